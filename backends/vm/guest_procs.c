/* guest_procs - the keeper's knowledge of the guest's processes. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest_procs.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "backends/vm/fs/fs_door.h"
#include "backends/vm/fs/fs_server.h"
#include "backends/vm/monitor/guest_word.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/guests.h"
#include "core/keeper/service.h"

#define ANSWER_US   5000000 /* the longest wait for an answer of the guest's pid 1 */
#define THREAD_US   1000000 /* how long a thread's number is taken for the same process */
#define THREADS_MAX 4096
#define AT_ONCE	    64
#define AGAIN_US    10000 /* between two attempts to send to the monitor */

/* The process of a thread's number, as the guest's pid 1 has answered. */
struct named {
	int tid, pid; /* pid 0: no answer yet */
	int64_t at;   /* time of the question or of the answer, monotonic */
	UT_hash_handle hh;
};

struct guest_procs {
	struct keeper *k;
	struct fs_server *fs;
	int sock;
	bool watched;
	bool silent;		  /* pid 1 did not answer; no request waits until it does */
	bool stands, hold_untold; /* a lost WORD_GO_ON would stop the machine for ever */
	int64_t rolled_back;	  /* the newest step that was undone or redone */
	bool untold;		  /* the monitor has not been sent that step */
	struct named *named;
	size_t n_waiting;
};

/* ---- to the monitor -------------------------------------------------------------------------- */

/* Sends a message to the monitor without waiting. Returns false if it is lost; the caller then does
 * not wait for an answer. */
static bool say(const struct guest_procs *g, const struct guest_word *w)
{
	ssize_t n;

	do
		n = send(g->sock, w, WORD_HEAD + w->exe_len + w->argv_len,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n >= 0;
}

static void send_signal(void *data, int pid, int sig)
{
	const struct guest_procs *g = data;

	say(g, &(struct guest_word){.kind = WORD_KILL, .pid = pid, .status = sig});
}

/* Sends the newest rollback and the machine's state again until the socket takes them. */
static void say_untold(struct guest_procs *g)
{
	const struct guest_word rollback = {.kind = WORD_ROLLED_BACK, .number = g->rolled_back};
	const struct guest_word hold = {.kind = g->stands ? WORD_HOLD : WORD_GO_ON};

	if (!g->watched)
		return; /* no monitor reads */
	if (g->untold)
		g->untold = !say(g, &rollback);
	if (g->hold_untold)
		g->hold_untold = !say(g, &hold);
	if (g->untold || g->hold_untold)
		keeper_wake_at(g->k, clock_mono_us() + AGAIN_US);
}

static void rolled_back(void *data, int64_t step)
{
	struct guest_procs *g = data;

	g->rolled_back = step;
	g->untold = true;
	say_untold(g);
}

static void hold(void *data, bool stands)
{
	struct guest_procs *g = data;

	g->stands = stands;
	g->hold_untold = true;
	say_untold(g);
}

/* ---- callers --------------------------------------------------------------------------------- */

static void forget(struct guest_procs *g, struct named *n)
{
	if (n->pid == 0)
		g->n_waiting--;
	HASH_DEL(g->named, n);
	free(n);
}

static void forget_all(struct guest_procs *g)
{
	struct named *n, *next;

	HASH_ITER (hh, g->named, n, next)
		forget(g, n);
}

static int ask(struct guest_procs *g, int tid)
{
	struct named *n;

	if (HASH_COUNT(g->named) >= THREADS_MAX && g->n_waiting == 0)
		forget_all(g);
	if (HASH_COUNT(g->named) >= THREADS_MAX ||
	    !say(g, &(struct guest_word){.kind = WORD_WHO, .pid = tid}))
		return -ENOBUFS;
	n = xcalloc(1, sizeof(*n));
	n->tid = tid;
	n->at = clock_mono_us();
	HASH_ADD_INT(g->named, tid, n);
	g->n_waiting++;
	keeper_wake_at(g->k, n->at + ANSWER_US);
	return -EAGAIN;
}

/* Finds the caller by the number of its thread. A process's first thread has the process's
 * number. */
static int find(void *data, int tid, struct caller *ret)
{
	struct guest_procs *g = data;
	struct named *n;

	if (tid > 0 && guest_caller(g->k, tid, ret) == 0)
		return 0;
	HASH_FIND_INT(g->named, &tid, n);
	if (n && n->pid == 0)
		return -EAGAIN;
	if (n && clock_mono_us() - n->at < THREAD_US)
		return guest_caller(g->k, n->pid, ret) == 0 ? 0 : guest_anybody(g->k, ret);
	if (n)
		forget(g, n);
	if (tid <= 0 || g->silent || ask(g, tid) != -EAGAIN)
		return guest_anybody(g->k, ret);
	return -EAGAIN;
}

/* Continues the requests of this thread. If the thread has ended, they count as the agent's. */
static void answered(struct guest_procs *g, int tid, int pid)
{
	struct named *n;

	HASH_FIND_INT(g->named, &tid, n);
	if (!n || n->pid != 0)
		return;
	n->pid = pid > 0 ? pid : -1;
	n->at = clock_mono_us();
	g->n_waiting--;
	fs_server_known(g->fs, tid);
}

static void tick(void *data)
{
	struct guest_procs *g = data;
	struct named *n, *next;
	int64_t now = clock_mono_us();

	say_untold(g);
	HASH_ITER (hh, g->named, n, next) {
		if (n->pid != 0)
			continue;
		if (now - n->at < ANSWER_US) {
			keeper_wake_at(g->k, n->at + ANSWER_US);
			continue;
		}
		if (!g->silent)
			log_info("vm", "the guest does not say who its processes are");
		g->silent = true;
		answered(g, n->tid, 0);
	}
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void say_answer(const struct guest_procs *g, int64_t number, const char *text, size_t len)
{
	struct guest_word w = {.kind = WORD_ANSWER, .number = number};

	guest_word_pack(&w, "", 0, text, len);
	say(g, &w);
}

/* Answers a question about a step, as keeper_step() does for a process of the host. */
static void serve_step(const struct guest_procs *g, const struct guest_word *asked)
{
	static const char gone[] = STEP_REFUSED "the caller is gone\n";
	AUTO_FREE char *request = xstrndup(asked->text + asked->exe_len, asked->argv_len);
	AUTO_FREE char *answer = NULL;
	AUTO_CLOSE int fd = -1;
	struct caller c;
	size_t len = 0;

	if (guest_caller(g->k, asked->pid, &c) == 0)
		fd = keeper_step(g->k, &c, request);
	if (fd >= 0 && io_read_all(fd, WORD_TEXT, &answer, &len) == 0)
		say_answer(g, asked->number, answer, len);
	else
		say_answer(g, asked->number, gone, sizeof(gone) - 1);
}

/* ---- from the monitor ------------------------------------------------------------------------ */

static void obey(struct guest_procs *g, const struct guest_word *w)
{
	char exe[256];
	const struct guest_process p = {.pid = w->pid,
					.parent = w->parent,
					.group = w->group,
					.age_us = w->number,
					.execed = w->execed,
					.exe = exe,
					.argv = w->text + w->exe_len,
					.argv_len = w->argv_len};

	snprintf(exe, sizeof(exe), "%.*s", (int)w->exe_len, w->text);
	g->silent = false;
	switch (w->kind) {
	case WORD_AGENT:
		guest_is_agent(g->k, w->pid);
		break;
	case WORD_PROCESS:
		guest_seen(g->k, &p);
		break;
	case WORD_EXEC:
		guest_exec(g->k, &p);
		break;
	case WORD_LEFT:
		guest_left(g->k, w->pid, w->status);
		break;
	case WORD_IS:
		answered(g, w->pid, w->parent);
		break;
	case WORD_STEP:
		serve_step(g, w);
		break;
	case WORD_FULL:
		keeper_warn(g->k, "the guest's image is full: remove something in the guest, or "
				  "run `cordon vm reset`, which removes all that it has kept");
		break;
	case WORD_STANDS:
		keeper_note(g->k,
			    w->status ? "the virtual machine stands still until you have answered"
				      : "the virtual machine goes on");
		break;
	default:
		break;
	}
}

static void on_word(void *data)
{
	struct guest_procs *g = data;
	static struct guest_word w; /* of the keeper's one thread */

	for (int i = 0; i < AT_ONCE; i++) {
		ssize_t n = recv(g->sock, &w, sizeof(w), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			keeper_unwatch(g->k, g->sock);
			g->watched = false;
			return; /* the monitor has ended; its pidfd reports that */
		}
		if (guest_word_fits(&w, (size_t)n))
			obey(g, &w);
	}
}

void guest_procs_drain(struct guest_procs *g)
{
	struct pollfd p = {.fd = g ? g->sock : -1, .events = POLLIN};

	while (g && g->watched && poll(&p, 1, 0) > 0)
		on_word(g);
}

/* ---- life ------------------------------------------------------------------------------------ */

static const struct guest_ops guest_ops = {.signal = send_signal, .hold = hold};
static const struct fs_callers callers = {.find = find, .tick = tick, .rolled_back = rolled_back};

int guest_procs_new(struct guest_procs **ret, struct keeper *k, struct fs_server *fs, int sock,
		    struct err *err)
{
	struct guest_procs *g = xcalloc(1, sizeof(*g));
	int r;

	g->k = k;
	g->fs = fs;
	g->sock = sock;
	r = keeper_watch(k, sock, on_word, g);
	if (r < 0) {
		guest_procs_free(g);
		return err_set(err, r, "watch the virtual machine");
	}
	g->watched = true;
	guest_begin(k, &guest_ops, g);
	fs_server_set_callers(fs, &callers, g);
	*ret = g;
	return 0;
}

void guest_procs_free(struct guest_procs *g)
{
	if (!g)
		return;
	if (g->watched)
		keeper_unwatch(g->k, g->sock);
	guest_begin(g->k, NULL, NULL);
	forget_all(g);
	util_close_fd(&g->sock);
	free(g);
}
