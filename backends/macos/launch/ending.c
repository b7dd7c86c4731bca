/* ending - kills every process of a session. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/ending.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/hash.h"

#define MAX_INSIDE 4096 /* per round */

struct killed {
	pid_t pid;
	UT_hash_handle hh;
};

static bool is_new(struct killed **all, pid_t pid)
{
	struct killed *one;

	HASH_FIND(hh, *all, &pid, sizeof(pid), one);
	if (one)
		return false;
	one = xcalloc(1, sizeof(*one));
	one->pid = pid;
	HASH_ADD(hh, *all, pid, sizeof(one->pid), one);
	return true;
}

static void forget(struct killed *all)
{
	struct killed *one, *next;

	HASH_ITER (hh, all, one, next) {
		HASH_DEL(all, one);
		free(one);
	}
}

/* Kills all processes of one round. Returns their number. *ret_new: one of them is new in this
 * round. */
static size_t kill_all(const struct ending *e, struct killed **killed, pid_t *inside, bool *ret_new)
{
	pid_t root = e->root ? e->root(e->data) : 0;
	size_t listed = e->os->list_inside(e->os->data, e->session, root, inside, MAX_INSIDE);
	size_t known, n = 0;

	*ret_new = false;
	for (size_t i = 0; i < listed; i++) {
		if (inside[i] <= 1 || inside[i] == getpid())
			continue;
		n++;
		(void)e->kill(inside[i], SIGKILL);
		*ret_new |= is_new(killed, inside[i]);
	}
	known = e->known ? e->known(e->data) : 0;
	return MAX(n, known);
}

size_t end_inside(const struct ending *e)
{
	const struct timespec pause = {.tv_sec = e->round_us / 1000000,
				       .tv_nsec = (long)(e->round_us % 1000000) * 1000};
	AUTO_FREE pid_t *inside = xcalloc(MAX_INSIDE, sizeof(*inside));
	struct killed *killed = NULL;
	int64_t began = clock_mono_us();
	unsigned quiet = 0, stale = 0;
	size_t n = 0;

	for (;;) {
		bool fresh;

		n = kill_all(e, &killed, inside, &fresh);
		quiet = n ? 0 : quiet + 1;
		stale = n && !fresh ? stale + 1 : 0;
		if (quiet >= MAX(e->quiet, 1u) || stale > e->patience)
			break;
		if (n && e->limit_us && clock_mono_us() - began >= e->limit_us)
			break;
		if (!fresh)
			(void)nanosleep(&pause, NULL);
	}
	forget(killed);
	return n;
}
