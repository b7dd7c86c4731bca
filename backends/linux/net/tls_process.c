/* tls_process - the loop of the TLS process: connections of the relay, secrets of the broker. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/net/tls_priv.h"
#include "core/base/clock.h"
#include "core/base/io.h"

#define AGAIN_US 10000000 /* pause after a command that failed */

/* ---- secrets --------------------------------------------------------------------------------- */

const char *tls_want(struct tls_process *p, size_t secret, int64_t now)
{
	const uint8_t number = (uint8_t)secret;

	if (now == 0)
		now = clock_mono_us();
	if (p->failed_us[secret] && now < p->failed_us[secret] + AGAIN_US)
		return "its command failed just now";
	if (p->broker < 0)
		return "the broker has ended: start the session anew";
	if (!p->asked[secret] && send(p->broker, &number, 1, MSG_NOSIGNAL) != 1)
		return "the broker has ended: start the session anew";
	p->asked[secret] = true;
	return NULL;
}

static void tell_all(struct tls_process *p, size_t secret, const char *words)
{
	for (size_t i = 0; i < p->n_conns; i++)
		tls_conn_secret(p->conns[i], secret, words);
}

/* Overwrites and frees a copy of a secret. Only the copy in use stays. */
static void wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
}

static void take_answer(struct tls_process *p, const struct secret_answer *a, const char *data)
{
	CLEANUP(wipe) char *text = xstrndup(data, a->len);

	if (a->secret >= p->secrets->n)
		return;
	p->asked[a->secret] = false;
	if (a->had) {
		wipe(&p->values[a->secret]);
		p->values[a->secret] = take_ptr(&text);
		tell_all(p, a->secret, NULL);
	} else {
		p->failed_us[a->secret] = clock_mono_us();
		tell_all(p, a->secret, text);
	}
}

static void end_broker(struct tls_process *p)
{
	util_close_fd(&p->broker);
	p->broker = -1;
	for (size_t i = 0; i < p->secrets->n; i++)
		if (p->asked[i])
			tell_all(p, i, "the broker has ended: start the session anew");
}

static void hear_broker(struct tls_process *p)
{
	struct secret_answer a;
	ssize_t n;

	buf_reserve(&p->heard, sizeof(a) + SECRET_ANSWER_MAX);
	n = recv(p->broker, p->heard.data + p->heard.len, SECRET_ANSWER_MAX, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_broker(p);
		return;
	}
	p->heard.len += (size_t)n;
	while (p->heard.len >= sizeof(a)) {
		memcpy(&a, p->heard.data, sizeof(a));
		if (p->heard.len < sizeof(a) + a.len)
			break;
		take_answer(p, &a, p->heard.data + sizeof(a));
		explicit_bzero(p->heard.data + sizeof(a), a.len);
		buf_drop_front(&p->heard, sizeof(a) + a.len);
	}
}

/* ---- connections ----------------------------------------------------------------------------- */

static void add(struct tls_process *p, int outer)
{
	int inner = take_fd(&p->inner);

	if (inner < 0 || outer < 0 || p->n_conns == TLS_CONNS) {
		util_close_fd(&inner);
		util_close_fd(&outer);
		return;
	}
	p->conns[p->n_conns++] = tls_conn_new(p, p->bits, inner, outer);
}

/* Receives a connection: the agent's end with its bits, then the host's. */
static void hear_relay(struct tls_process *p)
{
	uint32_t bits;
	int fd;
	ssize_t n = io_recv_fd(p->sock, &bits, sizeof(bits), &fd);

	if (n != (ssize_t)sizeof(bits))
		_exit(0); /* the keeper has ended */
	if (!bits) {
		add(p, fd);
		return;
	}
	util_close_fd(&p->inner);
	p->inner = fd;
	p->bits = bits;
}

static void run_all(struct tls_process *p)
{
	int64_t now = clock_mono_us();

	for (size_t i = 0; i < p->n_conns;) {
		if (tls_conn_run(p->conns[i], now)) {
			i++;
			continue;
		}
		tls_conn_free(p->conns[i]);
		p->conns[i] = p->conns[--p->n_conns];
	}
}

/* Returns the time to the nearest deadline; -1: none. */
static int timeout_ms(const struct tls_process *p)
{
	int64_t now = clock_mono_us(), first = INT64_MAX;

	for (size_t i = 0; i < p->n_conns; i++) {
		int64_t at = tls_conn_deadline(p->conns[i]);

		if (at && at < first)
			first = at;
	}
	return first == INT64_MAX ? -1 : (int)(MAX(first - now, (int64_t)0) / 1000 + 1);
}

NORETURN void tls_run(struct tls_process *p)
{
	static struct pollfd polled[2 + 2 * TLS_CONNS];

	p->inner = -1;
	p->heard = (struct buf)BUF_INIT;
	tls_conn_prepare(p);
	for (;;) {
		polled[0] = (struct pollfd){.fd = p->sock, .events = POLLIN};
		polled[1] = (struct pollfd){.fd = p->broker, .events = POLLIN};
		for (size_t i = 0; i < p->n_conns; i++)
			tls_conn_wants(p->conns[i], polled + 2 + 2 * i);
		if (poll(polled, 2 + 2 * p->n_conns, timeout_ms(p)) < 0 && errno != EINTR)
			_exit(1);
		if (polled[0].revents)
			hear_relay(p);
		if (polled[1].revents && p->broker >= 0)
			hear_broker(p);
		run_all(p);
	}
}
