/* gate_server - the process that serves the gated trees. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/gate/gate_fuse.h"
#include "backends/linux/gate/gate_held.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/net/host.h"

#define LINGER_US 50
#define RESTS_MAX 1024

static struct {
	struct gate_server spec;
	struct gate_fs *fs;
	size_t n;
	unsigned rest, rests; /* requests until it lingers again; the last such count */
} server;

/* ---- the loop -------------------------------------------------------------------------------- */

static void serve(struct gate_fs *fs)
{
	static struct fuse_buf room; /* the library enlarges it as needed */
	int n = fuse_session_receive_buf(fs->session, &room);

	if (n > 0)
		fuse_session_process_buf(fs->session, &room);
	else if (n != -EINTR && n != -EAGAIN)
		fs->broken = true;
}

/*
 * Polls for a moment without sleeping, because a caller on another processor often sends its next
 * request within microseconds, and a wake-up costs more. If that was useless, because no request
 * came or another process needed this processor, it is omitted for twice as many requests as the
 * last time.
 */
static int linger(struct pollfd *p, size_t n)
{
	int64_t end;
	int r;

	if (server.rest > 0) {
		server.rest--;
		return 0;
	}
	end = clock_mono_us() + LINGER_US;
	do {
		r = poll(p, n, 0);
		if (r == 0)
			sched_yield();
	} while (r == 0 && clock_mono_us() < end);
	if (r > 0 && clock_mono_us() < end) {
		server.rests = 0;
		return r;
	}
	server.rests = MIN(2 * server.rests + 1, RESTS_MAX);
	server.rest = server.rests;
	return MAX(r, 0);
}

static void disbelieve(void)
{
	for (size_t i = 0; i < server.n; i++)
		gate_fs_disbelieve(&server.fs[i]);
	gate_held_sure();
}

static void loop(void)
{
	struct pollfd p[1 + GATES_MAX];
	int r;

	for (;;) {
		p[0] = (struct pollfd){.fd = server.spec.sock, .events = gate_held_events()};
		for (size_t i = 0; i < server.n; i++)
			p[1 + i] = (struct pollfd){.fd = server.fs[i].broken ? -1
									     : server.spec.fuse[i],
						   .events = POLLIN};
		r = linger(p, 1 + server.n);
		if (r == 0)
			r = poll(p, 1 + server.n, gate_held_wait_ms());
		if (r < 0)
			continue;
		if (!gate_held_serve(p[0].revents, r == 0))
			return;
		if (gate_held_is_unsure())
			disbelieve();
		for (size_t i = 0; i < server.n; i++) {
			if (p[1 + i].revents)
				serve(&server.fs[i]);
		}
	}
}

/* ---- the process ----------------------------------------------------------------------------- */

static int confine(struct err *err)
{
	int r = confine_parser(err);

	io_raise_open_files(); /* each file that is open inside needs a descriptor */
	/* Rules about hosts arrive here, too, but are not used. */
	net_libraries_off();
	return r < 0 ? r : gate_filter(err);
}

static void be_quiet(enum fuse_log_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
}

NORETURN void gate_server_run(const struct gate_server *s)
{
	int kept[GATES_MAX + 1];
	struct err err = {0};

	prctl(PR_SET_NAME, "cordon-gate");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	server.n = plan_gate_mounts(s->plan);
	memcpy(kept, s->fuse, server.n * sizeof(*kept));
	kept[server.n] = s->sock;
	gate_keep_only(kept, server.n + 1);
	fuse_set_log_func(be_quiet);
	server.spec = *s;
	gate_held_begin(s, getppid());
	server.fs = xcalloc(server.n, sizeof(*server.fs));
	for (size_t i = 0; i < server.n; i++) {
		io_set_nonblock(s->fuse[i], true);
		if (gate_fs_init(&server.fs[i], s, i < s->plan->n_gated ? s->plan->gated[i] : NULL,
				 s->fuse[i]) < 0)
			_exit(1);
	}
	/* If the parent died before prctl(), the closed socket ends the loop. */
	if (confine(&err) < 0)
		_exit(1);
	loop();
	_exit(0);
}
