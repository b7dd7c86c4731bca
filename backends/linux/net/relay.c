/* relay - the process that dials, moves bytes and resolves names: its loop. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/relay_priv.h"
#include "core/net/notes.h"
#include "backends/linux/sandbox/landlock.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/os/signals.h"

#define EVENTS 128

static struct relay *the_relay;

struct relay *relay_self(void)
{
	return the_relay;
}

/* ---- watches --------------------------------------------------------------------------------- */

int relay_watch(struct relay *r, struct watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, w->fd, &e) < 0 ? -errno : 0;
}

void relay_rewatch(struct relay *r, struct watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	epoll_ctl(r->epoll, EPOLL_CTL_MOD, w->fd, &e);
}

void relay_close(struct relay *r, struct watch *w)
{
	if (w->fd < 0)
		return;
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	util_close_fd(&w->fd);
	w->fd = -1;
}

void relay_bury(struct relay *r, struct grave *g)
{
	g->next = r->graves;
	r->graves = g;
}

static void fill_graves(struct relay *r)
{
	while (r->graves) {
		struct grave *next = r->graves->next;

		free(r->graves);
		r->graves = next;
	}
}

void relay_wake_at(struct relay *r, int64_t us)
{
	if (!r->wake || us < r->wake)
		r->wake = us;
}

void relay_refuse(int fd)
{
	const struct linger at_once = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

int relay_accept(struct relay *r, const struct watch *w, struct sockaddr_storage *peer)
{
	socklen_t len = sizeof(*peer);
	int fd = accept4(w->fd, (struct sockaddr *)peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK), code;

	code = errno;
	if (fd >= 0 || (code != EMFILE && code != ENFILE) || r->spare < 0)
		return fd < 0 ? -code : fd;
	close(r->spare);
	fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	r->spare = fcntl(r->sock, F_DUPFD_CLOEXEC, 3);
	return -code;
}

/* ---- messages of the keeper ------------------------------------------------------------------ */

/* Sends a note to the keeper. May block while the keeper is busy with a call: that delays bytes,
 * not decisions. */
void relay_tell(struct relay *r, const struct net_note *note)
{
	while (send(r->sock, note, sizeof(*note), MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			_exit(0);
}

static void serve_note(struct relay *r, struct net_note *note)
{
	note->name[sizeof(note->name) - 1] = '\0';
	note->n = MIN(note->n, (uint16_t)NET_ADDRS_MAX);
	switch ((enum net_what)note->what) {
	case NET_ANSWER:
		stub_answer(r, note);
		return;
	case NET_RESOLVE:
		resolve_for_keeper(r, note);
		return;
	case NET_DIAL:
		dial_begin(r, note);
		return;
	case NET_BEGUN:
		dial_begun(r, note);
		return;
	case NET_CANCEL:
		dial_cancel(r, note->id);
		return;
	case NET_END:
		if (note->id & NET_IS_FLOW)
			packets_close(r, note->id);
		else
			pair_end(r, note->id);
		return;
	case NET_PASS:
		pair_passes(r, note->id);
		return;
	case NET_GRANT:
		packets_granted(r, note);
		return;
	case NET_REFUSE:
		packets_refused(r, note);
		return;
	case NET_PUBLISH:
		publish_begin(r, note);
		return;
	case NET_READY:
	case NET_LOOKUP:
	case NET_BOOK:
	case NET_RESOLVED:
	case NET_DIALLED:
	case NET_BYTES:
	case NET_CLOSED:
	case NET_FLOW:
	case NET_PUBLISHED:
	case NET_CAME:
	case NET_SAID:
	case NET_NAMED:
		return;
	}
}

static void on_keeper(struct watch *w, uint32_t events)
{
	(void)events;
	for (;;) {
		struct net_note note;
		int got = notes_take(w->fd, &note, sizeof(note));

		if (got == 0)
			return;
		if (got < 0)
			_exit(0);
		serve_note(the_relay, &note);
	}
}

/* Ends the relay when the router has ended, because no new connection can be made. The keeper
 * starts both again. The router sends no message by itself. */
static void on_router(struct watch *w, uint32_t events)
{
	if (w->fd >= 0 && events)
		_exit(0);
}

/* ---- main loop ------------------------------------------------------------------------------- */

/* Closes the keeper's descriptors, except 0 to 2 and those of the spec. */
static void close_others(const struct relay_spec *spec)
{
	int keep[4 + INSIDE_SOCKETS] = {spec->sock, spec->user_ns, spec->net_ns, spec->tls};

	memcpy(keep + 4, spec->inside, sizeof(spec->inside));
	io_close_all_but(3, keep, ARRAY_LEN(keep));
}

/* Lists the directories that have the list of nameservers; the file may be replaced. */
static size_t resolver_trees(struct landlock_tree trees[2])
{
	char *real = realpath("/etc/resolv.conf", NULL);
	char *slash = real ? strrchr(real, '/') : NULL;
	size_t n = 0;

	trees[n++] = (struct landlock_tree){.path = xstrdup("/etc"), .rights = LANDLOCK_READ};
	if (slash > real) {
		*slash = '\0';
		trees[n++] = (struct landlock_tree){.path = real, .rights = LANDLOCK_READ};
	}
	return n; /* never freed */
}

/* Confines the process, which reads untrusted bytes: no writes, and reads only in the directories
 * of nameservers. */
static int confine(const struct relay_spec *spec)
{
	struct landlock_tree trees[2];
	const struct landlock_spec little = {
		.trees = trees, .n_trees = resolver_trees(trees), .agent = true};
	struct err err = {0};

	close_others(spec);
	io_raise_open_files();
	if (landlock_abi() > 0 && landlock_restrict(&little, &err) < 0)
		return err.code;
	return confine_server(&err);
}

static int timeout_ms(const struct relay *r, bool busy)
{
	int64_t us = r->wake ? r->wake - r->now : -1;

	if (busy)
		return 0;
	return us < 0 && !r->wake ? -1 : (int)MIN(MAX(us, (int64_t)0) / 1000 + 1, (int64_t)60000);
}

static NORETURN void loop(struct relay *r)
{
	struct epoll_event list[EVENTS];
	bool busy = false;

	for (;;) {
		int n = epoll_wait(r->epoll, list, EVENTS, timeout_ms(r, busy));

		r->now = clock_mono_us();
		for (int i = 0; i < n; i++) {
			struct watch *w = list[i].data.ptr;

			if (w->fd >= 0)
				w->fn(w, list[i].events);
		}
		busy = pair_run(r);
		if (r->wake && r->now >= r->wake) {
			r->wake = 0;
			dial_tick(r);
			resolve_tick(r);
			stub_tick(r);
			pair_tick(r);
			packets_tick(r);
		}
		fill_graves(r);
	}
}

static void take_router(struct relay *r, const struct router *made)
{
	r->router = made->sock;
	r->inside = made->inside;
	r->outside = made->outside;
	r->again = made->packets[PACKETS_AGAIN];
	for (size_t i = 0; i < ARRAY_LEN(r->packets); i++)
		r->packets[i].fd = made->packets[i];
}

NORETURN void relay_run(const struct relay_spec *spec)
{
	struct relay *r = the_relay = xcalloc(1, sizeof(*r));
	struct watch keeper = {.fn = on_keeper}, router = {.fn = on_router};
	struct net_note ready = {.what = NET_READY};
	struct router made;

	prctl(PR_SET_NAME, "cordon-relay");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	os_signals_usual();
	signal(SIGCHLD, SIG_IGN); /* an ended router leaves no zombie */
	signal(SIGPIPE, SIG_IGN); /* splice(2) has no flag against it */
	r->spec = *spec;
	ready.code = confine(&r->spec);
	r->sock = keeper.fd = r->spec.sock;
	r->packets[0].fd = r->packets[1].fd = r->router = r->again = -1;
	r->spare = fcntl(r->sock, F_DUPFD_CLOEXEC, 3);
	if (ready.code == 0)
		ready.code = router_start(&r->spec, &made);
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (ready.code == 0 && (r->epoll < 0 || relay_watch(r, &keeper, EPOLLIN) < 0))
		ready.code = -errno;
	if (ready.code == 0) {
		take_router(r, &made);
		router.fd = r->router;
		stub_begin(r);
		ready.code = relay_watch(r, &router, 0); /* watches its end only */
	}
	if (ready.code == 0)
		ready.code = net_filter_relay();
	relay_tell(r, &ready);
	if (ready.code < 0)
		_exit(1);
	util_close_fd(&r->spec.user_ns);
	util_close_fd(&r->spec.net_ns);
	r->now = clock_mono_us();
	packets_begin(r);
	loop(r);
}
