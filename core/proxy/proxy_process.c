/* proxy_process - the process that speaks HTTP and SOCKS with the agent and dials for it; its loop.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/buf.h"
#include "core/net/notes.h"
#include "core/proxy/proxy_priv.h"
#include "core/os/process.h"
#include "core/os/signals.h"
#include "core/os/socket.h"

#define BACKLOG	    1024
#define CLIENTS_MAX 16384
#define FILES_OWN   64 /* descriptors besides two for each connection */
#define FILES_MAX   (2 * CLIENTS_MAX + FILES_OWN)
/* A nameserver that does not answer blocks a thread for some seconds; the others continue. */
#define LOOKUPS "32"

/* Sends a note to the keeper, which reads whenever it performs no call: waiting for it delays
 * bytes, not decisions. If packets are datagrams (macOS), there may be room but no buffer, and no
 * event when there is one. */
void proxy_tell(struct proxy *p, const struct proxy_note *note)
{
	struct pollfd room = {.fd = p->sock, .events = POLLOUT};

	while (send(p->sock, note, sizeof(*note), MSG_NOSIGNAL) < 0) {
		if (errno == ENOBUFS)
			poll(NULL, 0, 1);
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			poll(&room, 1, -1);
		else if (errno != EINTR)
			_exit(0);
	}
}

void proxy_alloc(uv_handle_t *h, size_t size, uv_buf_t *buf)
{
	struct side *s = h->data;
	struct proxy *p = s->client->proxy;

	(void)size;
	*buf = uv_buf_init(p->bytes, sizeof(p->bytes)); /* free again when the callback returns */
}

static void on_keeper(uv_poll_t *h, int status, int events)
{
	struct proxy *p = h->data;

	(void)status;
	(void)events;
	for (;;) {
		struct proxy_note note;
		int got = notes_take(p->sock, &note, sizeof(note));

		if (got == 0)
			return;
		if (got < 0)
			_exit(0);
		note.name[sizeof(note.name) - 1] = '\0';
		client_note(p, &note);
	}
}

static void on_tick(uv_timer_t *timer)
{
	struct proxy *p = timer->data;
	int64_t now = (int64_t)uv_now(&p->loop);
	struct client *next;

	for (struct client *c = p->clients; c; c = next) {
		next = c->next;
		client_tick(c, now);
	}
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct proxy *p = listener->data;

	if (status < 0)
		return;
	client_accept(p);
	if (p->clients && !uv_is_active((uv_handle_t *)&p->timer))
		uv_timer_start(&p->timer, on_tick, 1000, 1000);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Closes the keeper's other descriptors. */
static void close_others(int a, int b)
{
	int first = MIN(a, b), second = MAX(a, b);

	if (first > 3)
		os_close_range(3, (unsigned)first - 1);
	if (second > first + 1)
		os_close_range((unsigned)first + 1, (unsigned)second - 1);
	os_close_range((unsigned)second + 1, ~0u);
}

static void raise_limit(struct proxy *p)
{
	struct rlimit files;

	p->max_clients = CLIENTS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = MIN(files.rlim_max, (rlim_t)FILES_MAX);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0 && getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	if (files.rlim_cur < FILES_MAX)
		p->max_clients = MAX(files.rlim_cur, FILES_OWN + 2) / 2 - FILES_OWN / 2;
}

static int start(struct proxy *p, const struct proxy_spec *spec)
{
	AUTO_BUF struct buf wanted = BUF_INIT;
	char text[PROXY_SECRET + sizeof(PROXY_USER)];
	int r;

	snprintf(text, sizeof(text), PROXY_USER ":%s", spec->secret);
	base64_encode(&wanted, text, strlen(text));
	snprintf(p->wanted, sizeof(p->wanted), "%s", wanted.data);
	p->secret = spec->secret;
	p->sock = spec->sock;
	setenv("UV_THREADPOOL_SIZE", LOOKUPS, 1);
	close_others(spec->sock, spec->listener);
	raise_limit(p);
	r = spec->host->confine(spec->host->data);
	if (r == 0)
		r = uv_loop_init(&p->loop);
	if (r == 0)
		r = uv_timer_init(&p->loop, &p->timer);
	if (r == 0)
		r = uv_poll_init(&p->loop, &p->keeper, p->sock);
	if (r == 0)
		r = uv_tcp_init(&p->loop, &p->listener);
	if (r == 0)
		r = uv_tcp_open(&p->listener, spec->listener);
	p->timer.data = p->keeper.data = p->listener.data = p;
	if (r == 0)
		r = uv_poll_start(&p->keeper, UV_READABLE | UV_DISCONNECT, on_keeper);
	if (r == 0)
		r = uv_listen((uv_stream_t *)&p->listener, BACKLOG, on_connection);
	return r;
}

NORETURN void proxy_run(const struct proxy_spec *spec)
{
	struct proxy *p = xcalloc(1, sizeof(*p));
	struct proxy_note ready = {.what = PROXY_READY};

	os_set_name("cordon-proxy");
	os_stay_private();
	os_signals_usual();
	signal(SIGPIPE, SIG_IGN);
	ready.code = start(p, spec);
	proxy_tell(p, &ready);
	if (ready.code < 0)
		_exit(1);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	_exit(0);
}
