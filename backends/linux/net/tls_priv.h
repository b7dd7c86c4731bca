/* tls_priv - between the files of the TLS process; one thread, one poll loop. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <openssl/ssl.h>
#include <poll.h>

#include "backends/linux/net/tls.h"
#include "core/base/buf.h"
#include "core/broker/secrets.h"
#include "core/net/rewrite.h"

#define TLS_PEM_MAX (64u << 10)

struct tls_conn;

struct tls_process {
	const struct secrets *secrets;
	int sock, broker; /* to keeper and relay; -1: it has gone */
	SSL_CTX *hello, *client;
	SSL_CTX *hosts[SECRETS_MAX];	/* with the certificate of each one's host */
	char *values[SECRETS_MAX];	/* NULL: not known */
	bool asked[SECRETS_MAX];	/* under way */
	int64_t failed_us[SECRETS_MAX]; /* its command did, then */
	struct buf heard;		/* of the broker */
	struct tls_conn *conns[TLS_CONNS];
	size_t n_conns;
	/* of the relay's two messages: the agent's end has come */
	uint32_t bits;
	int inner; /* -1: it has not */
};

/* ---- tls_cert.c ------------------------------------------------------------------------------ */

/* Authority, certificates and contexts, from `roots` (PEM) and p->secrets; *ret_pem: the authority,
 * heap. */
int tls_make_contexts(struct tls_process *p, const char *roots, char **ret_pem, struct err *err)
	MUST_USE;

/* ---- tls_conn.c ------------------------------------------------------------------------------ */

void tls_conn_prepare(struct tls_process *p); /* its contexts, once */
/* Takes both. */
struct tls_conn *tls_conn_new(struct tls_process *p, uint32_t bits, int inner, int outer) MUST_USE;
void tls_conn_free(struct tls_conn *c);
/* What is to be polled: two entries. */
void tls_conn_wants(const struct tls_conn *c, struct pollfd polled[2]);
/* Move what can be moved. False: it is over. */
bool tls_conn_run(struct tls_conn *c, int64_t now);
int64_t tls_conn_deadline(const struct tls_conn *c); /* 0: none */
/* A secret has come, or *words* say why it has not. */
void tls_conn_secret(struct tls_conn *c, size_t secret, const char *words);

/* ---- tls_process.c --------------------------------------------------------------------------- */

/* sock, broker: as in the struct. The first message to sock is the authority's PEM, or words that
 * begin with a blank. */
NORETURN void tls_run(struct tls_process *p);
/* Ask for this secret, if nobody has; words: why that is no use. */
const char *tls_want(struct tls_process *p, size_t secret, int64_t now);
