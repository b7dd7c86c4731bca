/* tls_cert - the session's authority, the certificates that it signs, and contexts of OpenSSL. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "backends/linux/net/tls_priv.h"

#define EARLY_S 3600 /* for clocks that are behind */

static int failed(struct err *err, const char *what)
{
	char words[160];

	openssl.ERR_error_string_n(openssl.ERR_get_error(), words, sizeof(words));
	return err_say(err, -EIO, "network.secret: %s: %s", what, words);
}

/* ---- certificates ---------------------------------------------------------------------------- */

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;
	bool ok;

	X509V3_set_ctx_nodb(&ctx);
	openssl.X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	e = openssl.X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = e && openssl.X509_add_ext(cert, e, -1);
	openssl.X509_EXTENSION_free(e);
	return ok;
}

static bool set_serial(X509 *cert)
{
	unsigned char noise[16];
	BIGNUM *n;
	bool ok;

	if (openssl.RAND_bytes(noise, sizeof(noise)) != 1)
		return false;
	noise[0] = (noise[0] & 0x7f) | 1;
	n = openssl.BN_bin2bn(noise, sizeof(noise), NULL);
	ok = n && openssl.BN_to_ASN1_INTEGER(n, openssl.X509_get_serialNumber(cert));
	openssl.BN_free(n);
	return ok;
}

static X509 *new_cert(const char *name, EVP_PKEY *key)
{
	X509 *cert = openssl.X509_new();
	X509_NAME *subject = openssl.X509_NAME_new();

	if (cert && subject && openssl.X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
	    openssl.X509_gmtime_adj(openssl.X509_getm_notBefore(cert), -EARLY_S) &&
	    openssl.X509_gmtime_adj(openssl.X509_getm_notAfter(cert), TLS_DAYS * 86400L) &&
	    openssl.X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
					       (const unsigned char *)name, -1, -1, 0) &&
	    openssl.X509_set_subject_name(cert, subject) && openssl.X509_set_pubkey(cert, key)) {
		openssl.X509_NAME_free(subject);
		return cert;
	}
	openssl.X509_NAME_free(subject);
	openssl.X509_free(cert);
	return NULL;
}

struct authority {
	X509 *cert;
	EVP_PKEY *key;
};

static void authority_done(struct authority *a)
{
	openssl.X509_free(a->cert);
	openssl.EVP_PKEY_free(a->key);
}

static int make_authority(struct authority *a, const struct secrets *all, struct err *err)
{
	AUTO_BUF struct buf names = BUF_INIT;

	buf_str(&names, "critical");
	for (size_t i = 0; i < all->n; i++)
		buf_fmt(&names, ",permitted;DNS:%s", all->list[i].host);
	a->key = EVP_EC_gen("P-256");
	a->cert = a->key ? new_cert("cordon: this session only", a->key) : NULL;
	if (a->cert &&
	    openssl.X509_set_issuer_name(a->cert, openssl.X509_get_subject_name(a->cert)) &&
	    add_extension(a->cert, a->cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
	    add_extension(a->cert, a->cert, NID_key_usage, "critical,keyCertSign") &&
	    add_extension(a->cert, a->cert, NID_subject_key_identifier, "hash") &&
	    add_extension(a->cert, a->cert, NID_name_constraints, names.data) &&
	    openssl.X509_sign(a->cert, a->key, openssl.EVP_sha256()))
		return 0;
	return failed(err, "make the session's authority");
}

static X509 *sign_host(const struct authority *a, const char *host, EVP_PKEY *key)
{
	AUTO_FREE char *name = xasprintf("DNS:%s", host);
	X509 *cert = new_cert(strlen(host) <= 64 ? host : "cordon", key); /* 64: the limit of CN */

	if (cert && openssl.X509_set_issuer_name(cert, openssl.X509_get_subject_name(a->cert)) &&
	    add_extension(cert, a->cert, NID_basic_constraints, "critical,CA:FALSE") &&
	    add_extension(cert, a->cert, NID_key_usage, "critical,digitalSignature") &&
	    add_extension(cert, a->cert, NID_ext_key_usage, "serverAuth") &&
	    add_extension(cert, a->cert, NID_subject_alt_name, name) &&
	    add_extension(cert, a->cert, NID_subject_key_identifier, "hash") &&
	    add_extension(cert, a->cert, NID_authority_key_identifier, "keyid:always") &&
	    openssl.X509_sign(cert, a->key, openssl.EVP_sha256()))
		return cert;
	openssl.X509_free(cert);
	return NULL;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static SSL_CTX *new_context(const SSL_METHOD *method)
{
	SSL_CTX *ctx = openssl.SSL_CTX_new(method);

	if (!ctx)
		return NULL;
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	openssl.SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
						 SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	openssl.SSL_CTX_set_num_tickets(ctx, 0);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return ctx;
}

static SSL_CTX *host_context(const struct authority *a, const char *host)
{
	SSL_CTX *ctx = new_context(openssl.TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = key ? sign_host(a, host, key) : NULL;
	bool ok = ctx && cert && openssl.SSL_CTX_use_certificate(ctx, cert) == 1 &&
		  openssl.SSL_CTX_use_PrivateKey(ctx, key) == 1;

	openssl.X509_free(cert);
	openssl.EVP_PKEY_free(key);
	if (ok)
		return ctx;
	openssl.SSL_CTX_free(ctx);
	return NULL;
}

/* Adds all certificates of the text. Returns their number. */
static size_t add_roots(X509_STORE *store, const char *pem)
{
	BIO *text = openssl.BIO_new_mem_buf(pem, -1);
	size_t n = 0;
	X509 *cert;

	while (text && (cert = openssl.PEM_read_bio_X509(text, NULL, NULL, NULL)) != NULL) {
		n += openssl.X509_STORE_add_cert(store, cert) == 1;
		openssl.X509_free(cert);
	}
	openssl.ERR_clear_error(); /* end of text counts as an error */
	openssl.BIO_free(text);
	return n;
}

static char *to_pem(X509 *cert)
{
	BIO *out = openssl.BIO_new(openssl.BIO_s_mem());
	char *data, *copy = NULL;
	long len;

	if (out && openssl.PEM_write_bio_X509(out, cert) &&
	    (len = BIO_get_mem_data(out, &data)) > 0)
		copy = xstrndup(data, (size_t)len);
	openssl.BIO_free(out);
	return copy;
}

static int make_all(struct tls_process *p, const struct authority *a, const char *roots,
		    struct err *err)
{
	p->hello = new_context(openssl.TLS_server_method());
	p->client = new_context(openssl.TLS_client_method());
	if (!p->hello || !p->client)
		return failed(err, "begin with OpenSSL");
	openssl.SSL_CTX_set_verify(p->client, SSL_VERIFY_PEER, NULL);
	if (!add_roots(openssl.SSL_CTX_get_cert_store(p->client), roots))
		return err_say(err, -EINVAL,
			       "network.secret: the system's list of authorities has none: install "
			       "ca-certificates");
	for (size_t i = 0; i < p->secrets->n; i++) {
		p->hosts[i] = host_context(a, p->secrets->list[i].host);
		if (!p->hosts[i])
			return failed(err, "make a certificate");
	}
	return 0;
}

int tls_make_contexts(struct tls_process *p, const char *roots, char **ret_pem, struct err *err)
{
	CLEANUP(authority_done) struct authority a = {0};
	int r;

	/* The host's OpenSSL configuration may name code to load. */
	if (openssl.OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		return failed(err, "begin with OpenSSL");
	r = make_authority(&a, p->secrets, err);
	if (r == 0)
		r = make_all(p, &a, roots, err);
	if (r < 0)
		return r;
	*ret_pem = to_pem(a.cert);
	return *ret_pem ? 0 : failed(err, "write the session's certificate");
}
