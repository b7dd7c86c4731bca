/* tls_priv - shared by the files of the TLS process, which has one thread and one poll loop. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>

#include "backends/linux/net/openssl.h"
#include "backends/linux/net/tls.h"
#include "core/base/buf.h"
#include "core/broker/secrets.h"
#include "core/net/mask.h"
#include "core/net/rewrite.h"

#define TLS_PEM_MAX (64u << 10)

/* The macros of OpenSSL's headers call these functions by name. */
#define BIO_ctrl	  (openssl.BIO_ctrl)
#define EVP_PKEY_Q_keygen (openssl.EVP_PKEY_Q_keygen)
#define SSL_CTX_ctrl	  (openssl.SSL_CTX_ctrl)
#define SSL_ctrl	  (openssl.SSL_ctrl)
#define SSL_get_ex_data	  (openssl.SSL_get_ex_data)
#define SSL_set_ex_data	  (openssl.SSL_set_ex_data)

struct tls_conn;

struct tls_process {
	const struct secrets *secrets;
	int sock, broker; /* to keeper and relay; to the broker; -1: closed */
	SSL_CTX *hello, *client;
	SSL_CTX *hosts[SECRETS_MAX];	/* with the certificate of each one's host */
	char *values[SECRETS_MAX];	/* NULL: unknown */
	bool asked[SECRETS_MAX];	/* the broker has been asked and has not answered */
	int64_t failed_us[SECRETS_MAX]; /* when the secret's command failed last; 0: never */
	struct buf heard;		/* bytes of the broker */
	struct tls_conn *conns[TLS_CONNS];
	size_t n_conns;
	/* The first of the relay's two messages for a connection: */
	uint32_t bits;
	int inner; /* the agent's end; -1: not received */
};

/* ---- tls_cert.c ------------------------------------------------------------------------------ */

/* Makes the authority, the certificates and the contexts from `roots` (PEM) and p->secrets.
 * *ret_pem: the authority's certificate, heap. */
int tls_make_contexts(struct tls_process *p, const char *roots, char **ret_pem, struct err *err)
	MUST_USE;

/* ---- tls_conn.c ------------------------------------------------------------------------------ */

void tls_conn_prepare(struct tls_process *p); /* makes the contexts, once */
/* Takes both descriptors. */
struct tls_conn *tls_conn_new(struct tls_process *p, uint32_t bits, int inner, int outer) MUST_USE;
void tls_conn_free(struct tls_conn *c);
/* Fills the connection's two poll entries. */
void tls_conn_wants(const struct tls_conn *c, struct pollfd polled[2]);
/* Moves available bytes. Returns false at the connection's end. */
bool tls_conn_run(struct tls_conn *c, int64_t now);
int64_t tls_conn_deadline(const struct tls_conn *c); /* 0: none */
/* A secret's value has arrived; words: why not, or NULL. */
void tls_conn_secret(struct tls_conn *c, size_t secret, const char *words);

/* ---- tls_process.c --------------------------------------------------------------------------- */

/* Runs the process. The first message to p->sock is the authority's PEM, or an error message that
 * begins with a blank. */
NORETURN void tls_run(struct tls_process *p);
/* Asks the broker for this secret, unless it has been asked. Returns NULL, or why the secret cannot
 * come. now: monotonic, us; 0: the function reads the clock. */
const char *tls_want(struct tls_process *p, size_t secret, int64_t now);
