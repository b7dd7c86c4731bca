/* tls_conn - a connection in the TLS process, from its ClientHello until both ends are closed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/net/tls_priv.h"

#define HELLO_MAX (64u << 10) /* a longer ClientHello is not accepted as one */
#define HIGH	  (64u << 10) /* unsent bytes of one end, at which the other end is not read */
#define PIECE	  16384
#define BEGIN_US  30000000 /* for ClientHello and handshakes */
#define HELD_US	  500000   /* the end of an answer that looks like the beginning of a secret */
#define CHANCE	  8	   /* bytes of a secret that hardly any other answer ends with */
#define LONG_US	  30000000 /* the same for so many */
#define LINGER_US 3000000  /* after a refusal, for the agent to read it */

enum {
	AGENT,
	HOST
};

enum stage {
	STAGE_HELLO, /* which host? */
	STAGE_PASS,  /* no secret's host: bytes pass unchanged */
	STAGE_TLS,   /* a secret's host */
	STAGE_OVER,  /* refused: the agent reads the reason */
};

struct tls_conn {
	struct tls_process *process;
	enum stage stage;
	uint32_t bits;
	int fd[2];
	SSL *ssl[2];
	BIO *hello;	   /* bytes read before the decision; NULL: read from the socket */
	struct buf raw;	   /* the same bytes, in case the connection passes */
	struct buf to[2];  /* not yet sent to that end */
	bool ended[2];	   /* it has sent its end */
	bool shut[2];	   /* it was sent the end */
	bool full[2];	   /* it takes no more for the moment */
	bool broken, over; /* broken: the host did not end TLS; over: the connection is finished */
	bool passes;	   /* decided: not a secret's host */
	int mine;	   /* decided: the secret whose context is used; -1 */
	int64_t deadline;
	/* STAGE_TLS */
	struct rewriter rewriter;
	struct rewrite_rule rules[SECRETS_MAX];
	size_t of[SECRETS_MAX], n_rules; /* the secrets that the rules are about */
	struct mask mask;		 /* over secrets in answers */
	int64_t held_at;		 /* since when the mask holds bytes; 0: it holds none */
	bool waits;			 /* for a secret */
	bool answered;			 /* the host has sent data */
};

/* ---- refusals -------------------------------------------------------------------------------- */

/* Refuses the connection. The agent is told why, unless the host has sent data. */
static void refuse(struct tls_conn *c, int status, const char *what, const char *why, int64_t now)
{
	AUTO_BUF struct buf body = BUF_INIT;
	const char *host = c->process->secrets->list[c->mine].host;

	if (c->stage == STAGE_OVER)
		return;
	buf_fmt(&body, "cordon: %s: %s: %s\n", host, what, why);
	c->stage = STAGE_OVER;
	c->deadline = now + LINGER_US;
	c->over |= c->answered;
	buf_clear(&c->to[AGENT]);
	buf_fmt(&c->to[AGENT],
		"HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n%s",
		status, status == 400 ? "Bad Request" : "Bad Gateway", body.len, body.data);
}

static void refuse_host(struct tls_conn *c, int64_t now)
{
	long verdict = openssl.SSL_get_verify_result(c->ssl[HOST]);
	const char *words = openssl.ERR_reason_error_string(openssl.ERR_peek_error());

	if (verdict != X509_V_OK)
		refuse(c, 502, "its certificate is not accepted",
		       openssl.X509_verify_cert_error_string(verdict), now);
	else
		refuse(c, 502, "no TLS with it", words ? words : "it closed the connection", now);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Reads. Returns the number of bytes, 0 at the end, -EAGAIN, or another error if the end is
 * broken. */
static ssize_t take(struct tls_conn *c, int i, char *data, size_t size)
{
	ssize_t n;
	size_t got;
	int r;

	if (c->stage == STAGE_PASS) {
		n = recv(c->fd[i], data, size, 0);
		return n < 0 ? (errno == EINTR ? -EAGAIN : -errno) : n;
	}
	if (i == AGENT && c->hello && openssl.BIO_ctrl_pending(c->hello) == 0) {
		openssl.SSL_set0_rbio(c->ssl[AGENT],
				      openssl.BIO_new_socket(c->fd[AGENT], BIO_NOCLOSE));
		c->hello = NULL;
	}
	openssl.ERR_clear_error();
	r = openssl.SSL_read_ex(c->ssl[i], data, size, &got);
	if (r == 1)
		return (ssize_t)got;
	switch (openssl.SSL_get_error(c->ssl[i], r)) {
	case SSL_ERROR_WANT_WRITE:
		c->full[i] = true;
		return -EAGAIN;
	case SSL_ERROR_WANT_READ:
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		return -EPIPE;
	}
}

/* Writes. Returns the number of bytes, -EAGAIN, or another error if the end is broken. */
static ssize_t give(struct tls_conn *c, int i, const char *data, size_t len)
{
	size_t put;
	ssize_t n;
	int r;

	if (c->stage == STAGE_PASS) {
		n = send(c->fd[i], data, len, MSG_NOSIGNAL);
		c->full[i] = n < 0 && errno == EAGAIN;
		return n < 0 ? (errno == EINTR ? -EAGAIN : -errno) : n;
	}
	openssl.ERR_clear_error();
	r = openssl.SSL_write_ex(c->ssl[i], data, len, &put);
	if (r == 1)
		return (ssize_t)put;
	r = openssl.SSL_get_error(c->ssl[i], r);
	c->full[i] = r == SSL_ERROR_WANT_WRITE;
	return r == SSL_ERROR_WANT_WRITE || r == SSL_ERROR_WANT_READ ? -EAGAIN : -EPIPE;
}

/* Removes sent bytes, and clears them, as they may hold a secret. */
static void drop_front(struct buf *b, size_t n)
{
	size_t left = b->len - n;

	memmove(b->data, b->data + n, left);
	explicit_bzero(b->data + left, n);
	buf_truncate(b, left);
}

static void end_to(struct tls_conn *c, int i)
{
	c->shut[i] = true;
	if (c->ssl[i] && openssl.SSL_is_init_finished(c->ssl[i]) && !(i == AGENT && c->broken)) {
		openssl.ERR_clear_error();
		openssl.SSL_shutdown(c->ssl[i]);
	}
	shutdown(c->fd[i], SHUT_WR);
}

/* Sends the waiting bytes to end i, and then the end, if the other end has reached its own. */
static void flush(struct tls_conn *c, int i)
{
	c->full[i] = false;
	while (c->to[i].len) {
		ssize_t n = give(c, i, c->to[i].data, c->to[i].len);

		if (n == -EAGAIN)
			return;
		if (n < 0) {
			c->over = true;
			return;
		}
		drop_front(&c->to[i], (size_t)n);
	}
	if (c->ended[!i] && !c->shut[i] && !(i == HOST && c->waits))
		end_to(c, i);
}

/* ---- a secret's host ------------------------------------------------------------------------- */

static void feed(struct tls_conn *c, const char *data, size_t len, int64_t now)
{
	const char *why;
	int r;

	for (size_t i = 0; i < c->n_rules; i++)
		c->rules[i].value = c->process->values[c->of[i]];
	c->waits = false;
	r = rewriter_feed(&c->rewriter, data, len, &c->to[HOST], &why);
	if (r == 1) {
		size_t secret = c->of[c->rewriter.needs];

		why = tls_want(c->process, secret, now);
		c->waits = !why;
		if (why)
			refuse(c, 502, c->process->secrets->list[secret].name, why, now);
	} else if (r < 0) {
		refuse(c, 400, "cordon refuses this request, which has", why, now);
	}
}

/* Takes bytes of the host. Masks secrets in them, in case the host repeats a header. */
static void hear(struct tls_conn *c, const char *data, size_t len, int64_t now)
{
	const char *values[SECRETS_MAX];

	for (size_t i = 0; i < c->n_rules; i++)
		values[i] = c->process->values[c->of[i]];
	mask_feed(&c->mask, values, c->n_rules, data, len, &c->to[AGENT]);
	c->held_at = mask_holds(&c->mask) ? now : 0;
}

static int64_t release_at(const struct tls_conn *c)
{
	return c->held_at + (c->mask.held.len < CHANCE ? HELD_US : LONG_US);
}

static void release_held(struct tls_conn *c)
{
	mask_end(&c->mask, &c->to[AGENT]);
	c->held_at = 0;
}

void tls_conn_secret(struct tls_conn *c, size_t secret, const char *words)
{
	if (!c->waits || c->of[c->rewriter.needs] != secret)
		return;
	if (words)
		refuse(c, 502, c->process->secrets->list[secret].name, words, 0);
	c->waits = false;
	if (words)
		c->deadline = 0; /* tls_conn_run() sets a new one */
	else
		feed(c, "", 0, 0);
}

static void on_end(struct tls_conn *c, int i, ssize_t code, int64_t now)
{
	if (c->stage == STAGE_TLS && code < 0 && i == HOST &&
	    !openssl.SSL_is_init_finished(c->ssl[HOST])) {
		refuse_host(c, now);
		return;
	}
	if (code < 0 && i == AGENT)
		c->over = true;
	if (i == HOST)
		release_held(c);
	c->broken |= code < 0;
	c->ended[i] = true;
}

/* Moves bytes from end i to the other. */
static void move(struct tls_conn *c, int i, int64_t now)
{
	char data[PIECE];

	while (!c->ended[i] && !c->over && c->to[!i].len < HIGH && !(i == AGENT && c->waits)) {
		enum stage before = c->stage;
		ssize_t n = take(c, i, data, sizeof(data));

		if (n == -EAGAIN)
			return;
		if (n <= 0) {
			on_end(c, i, n, now);
			return;
		}
		if (i == AGENT && c->stage == STAGE_TLS)
			feed(c, data, (size_t)n, now);
		else if (c->stage == STAGE_TLS)
			hear(c, data, (size_t)n, now);
		else
			buf_add(&c->to[!i], data, (size_t)n);
		c->answered |= i == HOST;
		if (c->stage != before)
			return;
	}
}

/* Drops further bytes of the agent while it reads the refusal. */
static void run_over(struct tls_conn *c)
{
	char data[PIECE];
	ssize_t n;

	do
		n = take(c, AGENT, data, sizeof(data));
	while (n > 0);
	c->ended[AGENT] |= n != -EAGAIN;
	if (!openssl.SSL_is_init_finished(c->ssl[AGENT])) {
		c->over |= c->ended[AGENT];
		return;
	}
	c->ended[HOST] = true;
	flush(c, AGENT);
	c->over |= c->ended[AGENT];
}

static void run_tls(struct tls_conn *c, int64_t now)
{
	for (int i = 0; i < 2 && c->stage != STAGE_OVER; i++)
		move(c, i, now);
	if (c->held_at && c->to[AGENT].len >= HIGH) /* the rest is not read, because of the agent */
		c->held_at = now;
	if (c->held_at && now >= release_at(c))
		release_held(c);
	if (c->stage == STAGE_TLS && openssl.SSL_is_init_finished(c->ssl[AGENT]) &&
	    openssl.SSL_is_init_finished(c->ssl[HOST]))
		c->deadline = 0;
	for (int i = 0; i < 2 && c->stage != STAGE_OVER && !c->over; i++)
		if (!c->ssl[i] || openssl.SSL_is_init_finished(c->ssl[i]))
			flush(c, i);
	if (c->stage == STAGE_OVER)
		run_over(c);
	c->over |= c->shut[AGENT] && c->shut[HOST];
}

/* ---- the name in the agent's hello ----------------------------------------------------------- */

/* The server_name extension: list length, type 0, length, name (RFC 6066). */
static bool read_name(const unsigned char *ext, size_t len, struct span *ret)
{
	size_t n;

	if (len < 5 || ext[2] != 0)
		return false;
	n = (size_t)ext[3] << 8 | ext[4];
	if (((size_t)ext[0] << 8 | ext[1]) != len - 2 || n != len - 5)
		return false;
	*ret = (struct span){(const char *)ext + 5, n};
	return n > 0;
}

static int on_hello(SSL *ssl, int *alert, void *data)
{
	struct tls_conn *c = SSL_get_app_data(ssl);
	const struct secrets *all = c->process->secrets;
	const unsigned char *ext;
	struct span name;
	size_t len;

	(void)alert;
	(void)data;
	if (openssl.SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &ext, &len) == 1 &&
	    read_name(ext, len, &name))
		for (size_t i = 0; i < all->n; i++)
			if (c->bits & 1u << i && strlen(all->list[i].host) == name.len &&
			    strncasecmp(all->list[i].host, name.data, name.len) == 0) {
				c->mine = (int)i;
				openssl.SSL_set_SSL_CTX(ssl, c->process->hosts[i]);
				return SSL_CLIENT_HELLO_SUCCESS;
			}
	c->passes = true;
	return SSL_CLIENT_HELLO_RETRY;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
			   const unsigned char *in, unsigned in_len, void *data)
{
	(void)ssl;
	(void)data;
	for (unsigned i = 0; i < in_len; i += in[i] + 1u)
		if (in[i] == 8 && in_len - i >= 9 && memcmp(in + i + 1, "http/1.1", 8) == 0) {
			*out = in + i + 1;
			*out_len = 8;
			return SSL_TLSEXT_ERR_OK;
		}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Connects to the host, whose certificate must have the name and be trusted by the system. */
static bool begin_host(struct tls_conn *c, const char *host)
{
	static const unsigned char protocols[] = "\x08http/1.1";
	SSL *ssl = c->ssl[HOST] = openssl.SSL_new(c->process->client);

	if (!ssl)
		return false;
	openssl.SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (openssl.X509_VERIFY_PARAM_set1_host(openssl.SSL_get0_param(ssl), host, 0) != 1 ||
	    SSL_set_tlsext_host_name(ssl, (void *)(uintptr_t)host) != 1 ||
	    openssl.SSL_set_alpn_protos(ssl, protocols, sizeof(protocols) - 1) != 0 ||
	    openssl.SSL_set_fd(ssl, c->fd[HOST]) != 1)
		return false;
	openssl.SSL_set_connect_state(ssl);
	return true;
}

static void begin_tls(struct tls_conn *c)
{
	const struct secrets *all = c->process->secrets;
	const char *host = all->list[c->mine].host;

	c->stage = STAGE_TLS;
	buf_done(&c->raw);
	for (size_t i = 0; i < all->n; i++) {
		if (!(c->bits & 1u << i) || !str_eq(all->list[i].host, host))
			continue;
		c->of[c->n_rules] = i;
		c->rules[c->n_rules++] = (struct rewrite_rule){
			.header = all->list[i].header, .placeholder = all->list[i].placeholder};
	}
	rewriter_init(&c->rewriter, host, c->rules, c->n_rules);
	c->over = !begin_host(c, host);
}

static void begin_pass(struct tls_conn *c)
{
	c->stage = STAGE_PASS;
	c->deadline = 0;
	openssl.SSL_free(c->ssl[AGENT]); /* it has sent nothing */
	c->ssl[AGENT] = NULL;
	c->hello = NULL;
	c->to[HOST] = c->raw;
	c->raw = (struct buf)BUF_INIT;
}

static void run_hello(struct tls_conn *c)
{
	char data[PIECE];
	ssize_t n;

	while (c->stage == STAGE_HELLO && !c->over) {
		int r;

		n = recv(c->fd[AGENT], data, sizeof(data), 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			c->over = true;
			return;
		}
		c->ended[AGENT] = n == 0;
		buf_add(&c->raw, data, (size_t)n);
		if (openssl.BIO_write(c->hello, data, (int)n) != (int)n && n)
			c->over = true;
		openssl.ERR_clear_error();
		r = openssl.SSL_accept(c->ssl[AGENT]);
		if (c->mine >= 0)
			begin_tls(c);
		else if (c->passes || n == 0 || c->raw.len > HELLO_MAX ||
			 openssl.SSL_get_error(c->ssl[AGENT], r) != SSL_ERROR_WANT_READ)
			begin_pass(c);
	}
}

void tls_conn_prepare(struct tls_process *p)
{
	openssl.SSL_CTX_set_client_hello_cb(p->hello, on_hello, NULL);
	for (size_t i = 0; i < p->secrets->n; i++)
		openssl.SSL_CTX_set_alpn_select_cb(p->hosts[i], choose_protocol, NULL);
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool begin_agent(struct tls_conn *c)
{
	BIO *out = openssl.BIO_new_socket(c->fd[AGENT], BIO_NOCLOSE);

	c->ssl[AGENT] = openssl.SSL_new(c->process->hello);
	c->hello = openssl.BIO_new(openssl.BIO_s_mem());
	if (!c->ssl[AGENT] || !c->hello || !out) {
		openssl.BIO_free(out);
		openssl.BIO_free(take_ptr(&c->hello));
		return false;
	}
	BIO_set_mem_eof_return(c->hello, -1);
	openssl.SSL_set_bio(c->ssl[AGENT], c->hello, out); /* owned by the SSL object */
	SSL_set_app_data(c->ssl[AGENT], c);
	openssl.SSL_set_accept_state(c->ssl[AGENT]);
	return true;
}

struct tls_conn *tls_conn_new(struct tls_process *p, uint32_t bits, int inner, int outer)
{
	struct tls_conn *c = xcalloc(1, sizeof(*c));

	*c = (struct tls_conn){.process = p,
			       .bits = bits,
			       .fd = {inner, outer},
			       .mine = -1,
			       .raw = BUF_INIT,
			       .to = {BUF_INIT, BUF_INIT},
			       .mask.held = BUF_INIT,
			       .rewriter.in = BUF_INIT};
	c->over = !begin_agent(c);
	return c;
}

void tls_conn_free(struct tls_conn *c)
{
	struct buf *const all[] = {&c->to[AGENT], &c->to[HOST], &c->raw};

	mask_done(&c->mask);
	for (int i = 0; i < 2; i++) {
		openssl.SSL_free(c->ssl[i]);
		util_close_fd(&c->fd[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (all[i]->cap)
			explicit_bzero(all[i]->data, all[i]->cap);
		buf_done(all[i]);
	}
	rewriter_done(&c->rewriter);
	free(c);
}

int64_t tls_conn_deadline(const struct tls_conn *c)
{
	int64_t at = c->waits ? 0 : c->deadline;

	return c->held_at && (!at || release_at(c) < at) ? release_at(c) : at;
}

void tls_conn_wants(const struct tls_conn *c, struct pollfd polled[2])
{
	for (int i = 0; i < 2; i++) {
		bool hears = !c->ended[i] && c->to[!i].len < HIGH && !(i == AGENT && c->waits) &&
			     !(i == HOST && (c->stage == STAGE_HELLO || c->stage == STAGE_OVER));
		bool begins = i == HOST && c->ssl[HOST] && c->stage == STAGE_TLS &&
			      !openssl.SSL_is_init_finished(c->ssl[HOST]);

		polled[i] = (struct pollfd){.fd = c->fd[i],
					    .events = (short)((hears || begins ? POLLIN : 0) |
							      (c->full[i] ? POLLOUT : 0))};
		/* poll() reports a hang-up in any case, so an end without events is left out. */
		if (!polled[i].events)
			polled[i].fd = -1;
	}
}

bool tls_conn_run(struct tls_conn *c, int64_t now)
{
	if (!c->deadline && (c->stage == STAGE_HELLO || c->stage == STAGE_OVER))
		c->deadline = now + (c->stage == STAGE_HELLO ? BEGIN_US : LINGER_US);
	if (c->deadline && now >= c->deadline && !c->waits)
		return false;
	if (c->stage == STAGE_HELLO)
		run_hello(c);
	if (c->stage == STAGE_PASS) {
		for (int i = 0; i < 2; i++) {
			move(c, i, now);
			flush(c, !i);
		}
		c->over |= c->shut[AGENT] && c->shut[HOST];
	} else if (c->stage != STAGE_HELLO) {
		run_tls(c, now);
	}
	return !c->over;
}
