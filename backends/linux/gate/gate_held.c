/* gate_held - opens that the read gate holds, and the messages of server and keeper about them. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/gate_held.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/door/interrupts.h"
#include "backends/linux/gate/gate_fuse.h"
#include "core/base/clock.h"
#include "core/base/hash.h"

/*
 * Each held open is sent to the keeper once. It waits here while the socket is full, because the
 * keeper itself may wait for a name lookup. Most signals do not end it, as they end no open of a
 * file on a disk, and FUSE cannot restart a call. Only a caller that is being killed, or catches a
 * signal by which programs are ended (Ctrl-C), gets EINTR. The kernel reports the first signal
 * alone, so the signals of an interrupted caller are read again at intervals.
 */
#define HELD_MAX 4096
#define LOOK_MS	 20

/* Allowed opens are reported in groups: after this many, or after a quiet time. */
#define COUNT_MAX 1000
#define COUNT_MS  1000

struct held {
	uint64_t id;
	struct gate_open open;
	int tid;
	bool told, interrupted, cancelled; /* cancelled: the keeper does not know yet */
	char *path;
	UT_hash_handle hh;
};

static struct {
	struct gate_server spec;
	struct policy *policy; /* the same policy as spec.policy */
	struct held *held;
	size_t n_untold, n_interrupted;
	int64_t look_at; /* microseconds: when interrupted callers are checked next */
	uint64_t last;
	uint64_t changes;      /* changes of the keeper's rules that were received */
	uint64_t uncounted;    /* allowed opens that were not reported yet */
	struct config *coming; /* new settings whose lines are being received */
	struct inode_set changing;
	bool unsure; /* cached attributes must be dropped, then the keeper is told */
	uint32_t n_changes;
	bool armed;
	pid_t keeper;
} server;

bool gate_is_armed(void)
{
	return server.armed;
}

/* ---- the keeper ------------------------------------------------------------------------------ */

static void held_free(struct held *h)
{
	HASH_DEL(server.held, h);
	server.n_untold -= !h->told || h->cancelled;
	server.n_interrupted -= h->interrupted;
	free(h->path);
	free(h);
}

/* Sends the question, or its cancellation. Returns false if the socket is full. */
static bool tell(struct held *h)
{
	struct gate_note note = {
		.id = h->id,
		.what = h->cancelled ? GATE_CANCEL : GATE_ASK,
		.tid = h->tid,
		.exec = h->open.exec,
		.dir = h->open.dir,
		.special = h->open.special,
		.withheld = h->open.withheld,
	};

	snprintf(note.path, sizeof(note.path), "%s", h->path);
	if (send(server.spec.sock, &note, GATE_NOTE_HEAD + strlen(note.path) + 1,
		 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return false; /* the loop detects a keeper that has ended */
	h->told = true;
	server.n_untold--;
	if (h->cancelled) {
		h->cancelled = false;
		held_free(h);
	}
	return true;
}

static void tell_all(void)
{
	struct held *h, *next;

	HASH_ITER (hh, server.held, h, next) {
		if ((!h->told || h->cancelled) && !tell(h))
			return;
	}
}

static void on_interrupt(fuse_req_t req, void *data)
{
	struct held *h = data;

	(void)req;
	server.n_interrupted += !h->interrupted;
	h->interrupted = true;
}

static void tell_count(void)
{
	const struct gate_note note = {.what = GATE_COUNT};

	if (server.uncounted &&
	    send(server.spec.sock, &note, GATE_NOTE_HEAD + 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		server.uncounted = 0;
}

/* Answers the request if the rules allow it, and this copy of the rules is current. Returns false
 * if the keeper must be asked. */
static bool let_in(const struct gate_open *o, const char *path)
{
	enum rule_kind kind = o->exec ? RULE_EXEC : RULE_READ;
	const char *why;

	if (o->special || o->withheld ||
	    atomic_load(&server.spec.page->changes) != server.changes ||
	    policy_check_read(server.policy, kind, path, &why) != POLICY_ALLOW)
		return false;
	gate_finish(o, path, 0);
	atomic_fetch_add_explicit(&server.spec.page->let_in, 1, memory_order_relaxed);
	if (++server.uncounted >= COUNT_MAX)
		tell_count();
	return true;
}

void gate_hold(const struct gate_open *o, const char *path)
{
	struct held *h;
	int tid = fuse_req_ctx(o->req)->pid;

	/* A request of the keeper's must not wait for the keeper. */
	if (!server.armed || tid <= 0 || tid == server.keeper) {
		gate_finish(o, path, -EACCES);
		return;
	}
	if (let_in(o, path))
		return;
	if (HASH_COUNT(server.held) >= HELD_MAX) {
		gate_finish(o, path, -EACCES);
		return;
	}
	h = xcalloc(1, sizeof(*h));
	h->id = ++server.last;
	h->open = *o;
	h->tid = tid;
	h->path = xstrdup(path);
	HASH_ADD(hh, server.held, id, sizeof(h->id), h);
	server.n_untold++;
	fuse_req_interrupt_func(o->req, on_interrupt, h);
	tell(h);
}

static void let_go(struct held *h, int result)
{
	fuse_req_interrupt_func(h->open.req, NULL, NULL);
	gate_finish(&h->open, h->path, result);
}

static void answer(const struct gate_note *note)
{
	struct held *h;

	HASH_FIND(hh, server.held, &note->id, sizeof(note->id), h);
	if (!h || h->cancelled)
		return;
	let_go(h, note->result);
	held_free(h);
}

/* Takes one line of new settings: strings as the door packed them; the note ends with NUL. */
static void take_line(const struct gate_note *note, size_t len)
{
	const char *at = note->path, *texts[4];
	struct config_rule rule = note->rule;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		texts[i] = at;
		at += strlen(at);
		at += at < note->path + len - 1;
	}
	rule.name = texts[0];
	rule.key = texts[1];
	rule.value = texts[2];
	rule.file = texts[3];
	if (!server.coming)
		server.coming = config_of_rules();
	config_add_rule(server.coming, &rule);
}

/* Takes new settings. If they differ from the keeper's, the copy stays outdated, so each open is
 * asked. */
static void take_lines(const struct gate_note *note)
{
	struct err err = {0};

	if (!server.coming)
		server.coming = config_of_rules();
	if (config_rules(server.coming) == note->id &&
	    policy_reload(server.policy, server.coming, &err) == 0) {
		policy_forget_old(server.policy);
		server.changes++;
	}
	config_free(take_ptr(&server.coming));
}

/* Takes a new rule. If its id differs from the keeper's, the copy stays outdated, so each open is
 * asked. */
static void take_rule(const struct gate_note *note)
{
	if (note->what == GATE_REVOKED)
		policy_revoke(server.policy, note->id);
	else if (policy_answer(server.policy, note->kind, note->path, &note->answer) != note->id)
		return;
	server.changes++;
}

static void take_changes(const struct gate_note *note)
{
	for (uint32_t i = 0; i < MIN(note->n_inodes, ARRAY_LEN(note->inodes)); i++)
		inode_set_add(&server.changing, &note->inodes[i]);
	server.n_changes++;
	server.unsure = true;
}

const struct inode_set *gate_changing(void)
{
	return &server.changing;
}

bool gate_held_is_unsure(void)
{
	return server.unsure;
}

void gate_held_sure(void)
{
	server.unsure = false;
	atomic_store(&server.spec.page->unsure, server.n_changes);
	syscall(SYS_futex, &server.spec.page->unsure, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Handles the keeper's notes. Returns false if the keeper has ended. */
static bool listen_to_keeper(void)
{
	struct gate_note note;

	for (;;) {
		ssize_t n = recv(server.spec.sock, &note, sizeof(note), MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n <= (ssize_t)GATE_NOTE_HEAD)
			return false;
		note.path[MIN((size_t)n - GATE_NOTE_HEAD, sizeof(note.path)) - 1] = '\0';
		switch ((enum gate_say)note.what) {
		case GATE_ARM:
			server.armed = true;
			break;
		case GATE_ANSWER:
			answer(&note);
			break;
		case GATE_GIVEN:
		case GATE_REVOKED:
			take_rule(&note);
			break;
		case GATE_RULE:
			take_line(&note, (size_t)n - GATE_NOTE_HEAD);
			break;
		case GATE_RERULED:
			take_lines(&note);
			break;
		case GATE_CHANGES:
			take_changes(&note);
			break;
		case GATE_ASK:
		case GATE_CANCEL:
		case GATE_COUNT:
		case GATE_LOOKED:
			return false; /* the keeper never sends these */
		}
	}
}

/* ---- interrupted callers --------------------------------------------------------------------- */

static void look_at_interrupted(void)
{
	struct held *h, *next;

	HASH_ITER (hh, server.held, h, next) {
		if (!h->interrupted || h->cancelled || !interrupt_ends(h->tid))
			continue;
		let_go(h, -EINTR);
		h->interrupted = false;
		server.n_interrupted--;
		if (!h->told) {
			held_free(h);
			continue;
		}
		h->cancelled = true;
		server.n_untold++;
		tell(h);
	}
	server.look_at = clock_mono_us() + LOOK_MS * 1000;
}

/* ---- calls of the loop ----------------------------------------------------------------------- */

void gate_held_begin(const struct gate_server *s, pid_t keeper)
{
	server.spec = *s;
	server.policy = (struct policy *)(uintptr_t)s->policy;
	server.keeper = keeper;
}

short gate_held_events(void)
{
	return server.n_untold ? POLLIN | POLLOUT : POLLIN;
}

int gate_held_wait_ms(void)
{
	if (server.n_interrupted)
		return LOOK_MS;
	return server.uncounted ? COUNT_MS : -1;
}

bool gate_held_serve(short revents, bool late)
{
	if (late)
		tell_count();
	if (revents & POLLOUT)
		tell_all();
	if ((revents & ~POLLOUT) && !listen_to_keeper())
		return false;
	/* Each check reads a file of /proc, so it is not made at every request. */
	if (server.n_interrupted && clock_mono_us() >= server.look_at)
		look_at_interrupted();
	return true;
}
