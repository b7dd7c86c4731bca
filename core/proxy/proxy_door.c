/* proxy_door - the keeper's side of the proxy: its process, its notes, its door. */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/keeper/flows.h"
#include "core/net/notes.h"
#include "core/proxy/proxy_door_priv.h"
#include "core/os/process.h"
#include "core/os/socket.h"

#define TURN_MAX      1024    /* notes in one turn of the keeper's loop */
#define AGAIN_US      1000000 /* time before a proxy that died is started again */
#define AGAIN_SOON_US 1000    /* time before notes without room are sent again */
#define BACKLOG	      1024

static void watch_listener(struct proxy_door *p, bool on);

/* ---- notes to the proxy ---------------------------------------------------------------------- */

/* Sends notes. Those without room are sent a moment later: the proxy reads as long as it lives, and
 * the end of its socket shows its death. There are at most a few for each request. */
static void flush(struct proxy_door *p)
{
	size_t at = 0;

	while (p->sock >= 0 && at < p->out.len) {
		ssize_t n = send(p->sock, p->out.data + at, sizeof(struct proxy_note),
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		at += sizeof(struct proxy_note);
	}
	buf_drop_front(&p->out, at);
	if (p->sock >= 0 && p->out.len)
		keeper_wake_at(p->k, clock_mono_us() + AGAIN_SOON_US);
}

void proxy_door_tell(struct proxy_door *p, const struct proxy_note *note)
{
	if (p->sock < 0)
		return;
	buf_add(&p->out, note, sizeof(*note));
	if (p->out.len == sizeof(*note))
		flush(p);
}

/* ---- what the proxy says --------------------------------------------------------------------- */

static void end_proxy(struct proxy_door *p)
{
	if (p->sock >= 0) {
		keeper_unwatch(p->k, p->sock);
		util_close_fd(&p->sock);
		p->sock = -1;
	}
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	p->pid = 0;
	buf_clear(&p->out);
	p->died_us = clock_mono_us();
	for (size_t i = 0; i < WANT_SLOTS; i++)
		while (p->slots[i])
			want_gone(p, p->slots[i]);
}

static void hear(struct proxy_door *p, struct proxy_note *note)
{
	struct want *w = want_find(p, note->id);

	switch ((enum proxy_what)note->what) {
	case PROXY_READY:
		if (note->code < 0)
			log_warn("net", "the proxy does not start: %s", strerror(-note->code));
		return;
	case PROXY_WANT:
		if (!w)
			want_begin(p, note);
		return;
	case PROXY_RESOLVED:
		if (w)
			want_resolved(p, w, note);
		return;
	case PROXY_OPEN:
		if (w && w->stage == STAGE_DIAL)
			want_opened(p, w, note);
		return;
	case PROXY_NAMED:
		want_named(p, w, note);
		return;
	case PROXY_BYTES:
	case PROXY_CLOSED:
		if (w && note->what == PROXY_CLOSED)
			want_gone(p, w);
		flow_tell(p->k, &(struct flow_news){.id = note->id,
						    .state = note->what == PROXY_BYTES ? FLOW_MOVING
										       : FLOW_OVER,
						    .sent = note->sent,
						    .received = note->received});
		return;
	case PROXY_SAID:
		flow_say(p->k, &p->said, note->name);
		return;
	case PROXY_GONE:
		if (w)
			want_gone(p, w);
		return;
	case PROXY_RESOLVE:
	case PROXY_DIAL:
	case PROXY_REFUSE:
	case PROXY_END:
	case PROXY_PASS:
		return;
	}
}

static void on_proxy(void *data)
{
	struct proxy_door *p = data;

	flush(p);
	for (int i = 0; i < TURN_MAX && p->sock >= 0; i++) {
		struct proxy_note note;
		int got = notes_take(p->sock, &note, sizeof(note));

		if (got == 0)
			return;
		if (got < 0) {
			end_proxy(p);
			watch_listener(p, true);
			return;
		}
		note.name[sizeof(note.name) - 1] = '\0';
		hear(p, &note);
	}
}

static int start_process(struct proxy_door *p, const struct proxy_spec *spec)
{
	if (p->host->start)
		return p->host->start(p->host->data, spec, &p->pid);
	p->pid = fork_bare();
	if (p->pid == 0)
		proxy_run(spec);
	return p->pid < 0 ? -errno : 0;
}

static int start_proxy(struct proxy_door *p)
{
	struct proxy_spec spec = {.host = p->host, .listener = p->listener, .secret = p->secret};
	int fds[2], r;

	if (socketpair(AF_UNIX, OS_PACKETS | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	spec.sock = fds[1];
	r = start_process(p, &spec);
	close(fds[1]);
	if (r == 0)
		r = keeper_watch(p->k, fds[0], on_proxy, p);
	if (r == 0) {
		p->sock = fds[0];
		return 0;
	}
	close(fds[0]);
	if (p->pid > 0) /* it detects the end of its socket */
		waitpid(p->pid, NULL, 0);
	p->pid = 0;
	return r;
}

/* Starts the proxy at the first connection; it accepts all further ones. */
static void on_connection(void *data)
{
	struct proxy_door *p = data;
	int r;

	if (p->died_us && clock_mono_us() - p->died_us < AGAIN_US) {
		watch_listener(p, false); /* tick() continues */
		keeper_wake_at(p->k, p->died_us + AGAIN_US);
		return;
	}
	watch_listener(p, false);
	r = start_proxy(p);
	if (r < 0) {
		log_warn("net", "start the proxy: %s", strerror(-r));
		p->died_us = clock_mono_us();
		keeper_wake_at(p->k, p->died_us + AGAIN_US);
	}
}

static void watch_listener(struct proxy_door *p, bool on)
{
	if (p->watched == on)
		return;
	p->watched = on;
	if (!on)
		keeper_unwatch(p->k, p->listener);
	else if (keeper_watch(p->k, p->listener, on_connection, p) < 0)
		log_warn("net", "the proxy cannot be reached");
}

/* ---- the door -------------------------------------------------------------------------------- */

static struct proxy_door *self(struct door *d)
{
	return (struct proxy_door *)(void *)((char *)d - offsetof(struct proxy_door, door));
}

static void answered(struct door *d, uint64_t id, enum door_verdict verdict)
{
	want_answered(self(d), id, verdict);
}

static void drop_all(struct door *d)
{
	wants_drop(self(d));
}

static void tick(struct door *d)
{
	struct proxy_door *p = self(d);

	flush(p);
	if (p->sock >= 0 || p->watched)
		return;
	if (clock_mono_us() - p->died_us >= AGAIN_US)
		watch_listener(p, true);
	else
		keeper_wake_at(p->k, p->died_us + AGAIN_US);
}

static void end_flow(struct door *d, uint64_t id)
{
	const struct proxy_note note = {.what = PROXY_END, .id = id};

	proxy_door_tell(self(d), &note);
}

static void close_door(struct door *d)
{
	proxy_door_free(self(d));
}

static const struct door_ops ops = {
	.answered = answered,
	.drop_all = drop_all,
	.tick = tick,
	.end_flow = end_flow,
	.close = close_door,
};

/* ---- life ------------------------------------------------------------------------------------ */

static int listen_here(struct proxy_door *p)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&at, len) < 0 ||
	    listen(p->listener, BACKLOG) < 0 ||
	    getsockname(p->listener, (struct sockaddr *)&at, &len) < 0)
		return -errno;
	p->port = ntohs(at.sin_port);
	return 0;
}

static int make_env(struct proxy_door *p)
{
	static const char *const names[] = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
					    "http_proxy", "https_proxy", "all_proxy"};
	uint8_t noise[(PROXY_SECRET - 1) / 2];
	size_t n = 0;

	if (getrandom(noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
		return -EIO;
	for (size_t i = 0; i < sizeof(noise); i++)
		snprintf(p->secret + 2 * i, 3, "%02x", noise[i]);
	for (; n < ARRAY_LEN(names); n++)
		p->env[n] = xasprintf("%s=http://" PROXY_USER ":%s@127.0.0.1:%u", names[n],
				      p->secret, p->port);
	p->env[n++] = xstrdup("NO_PROXY=localhost,127.0.0.1,::1");
	p->env[n++] = xstrdup("no_proxy=localhost,127.0.0.1,::1");
	p->env[n++] = xstrdup("NODE_USE_ENV_PROXY=1"); /* with it node reads the others */
	return 0;
}

int proxy_door_new(struct proxy_door **ret, struct keeper *k, const struct proxy_host *host,
		   struct err *err)
{
	struct proxy_door *p = xcalloc(1, sizeof(*p));
	int r;

	p->door = (struct door){.ops = &ops, .fd = -1};
	p->k = k;
	p->host = host;
	p->sock = p->listener = -1;
	p->book = book_new();
	p->out = p->said = (struct buf)BUF_INIT;
	p->callers = host->caller ? NULL : xcalloc(1 << 16, sizeof(*p->callers));
	r = listen_here(p);
	if (r == 0)
		r = make_env(p);
	if (r < 0) {
		proxy_door_free(p);
		return err_set(err, r, "make the proxy that the agent connects through");
	}
	watch_listener(p, true);
	*ret = p;
	return 0;
}

void proxy_door_free(struct proxy_door *p)
{
	const struct proxy_host *host;

	if (!p)
		return;
	host = p->host;
	watch_listener(p, false);
	end_proxy(p);
	util_close_fd(&p->listener);
	for (size_t i = 0; i < PROXY_SETTINGS; i++)
		free(p->env[i]);
	free(p->callers);
	buf_done(&p->out);
	buf_done(&p->said);
	book_free(p->book);
	free(p);
	if (host->done)
		host->done(host->data);
}

struct door *proxy_door_of(struct proxy_door *p)
{
	return &p->door;
}

const char *const *proxy_door_env(const struct proxy_door *p)
{
	return (const char *const *)p->env;
}

uint16_t proxy_door_port(const struct proxy_door *p)
{
	return p->port;
}

void proxy_door_expect(struct proxy_door *p, uint16_t from, int pid)
{
	assert(p->callers);
	p->callers[from] = pid;
}

int proxy_door_caller(const struct proxy_door *p, uint16_t from)
{
	return p->callers ? p->callers[from] : p->host->caller(p->host->data, from, p->port);
}
