/* gate_door - the keeper's side of the read gate: requests in, calls of folder_read() out. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/gate/gate_looks.h"
#include "backends/linux/gate/gate_priv.h"
#include "backends/linux/gate/gate_shown.h"
#include "backends/linux/gate/inode_set.h"
#include "core/base/clock.h"
#include "core/base/log.h"

/* Requests that one turn of the keeper's loop handles, so that other sources get their turn. */
#define AT_ONCE 32
/* Milliseconds until the server must have dropped the kernel's cached attributes; it needs
 * microseconds. */
#define SURE_MS 1000

/* A request about which the user is asked. */
struct wish {
	struct wish *next;
	struct gate_note note;
};

struct gate_door {
	struct door door;
	struct keeper *k;
	struct gate_shown shown;
	struct gate_page *page;
	uint64_t changes;	   /* as in the page, which another process could change */
	uint64_t counted;	   /* opens that the server has allowed */
	struct inode_set changing; /* as the server knows them */
	uint32_t n_changes;
	struct wish *wishes;
	struct gate_looks looks;
};

/* Sends to the server, which always reads. After its death no process waits for the note. */
static void tell_bytes(const struct gate_door *g, const struct gate_note *note, size_t path_len)
{
	while (send(g->door.fd, note, GATE_NOTE_HEAD + path_len, MSG_NOSIGNAL) < 0 &&
	       errno == EINTR)
		continue;
}

static void tell(const struct gate_door *g, const struct gate_note *note)
{
	tell_bytes(g, note, strlen(note->path) + 1);
}

static void answer(struct gate_door *g, uint64_t id, int result)
{
	tell(g, &(struct gate_note){.id = id, .what = GATE_ANSWER, .result = result});
}

static void count(struct gate_door *g)
{
	uint64_t n = atomic_load(&g->page->let_in);

	keeper_count_reads(g->k, n - g->counted);
	g->counted = n;
}

static struct wish *take(struct gate_door *g, uint64_t id)
{
	for (struct wish **p = &g->wishes; *p; p = &(*p)->next) {
		if ((*p)->note.id == id) {
			struct wish *w = *p;

			*p = w->next;
			return w;
		}
	}
	return NULL;
}

static void park(struct gate_door *g, const struct gate_note *note)
{
	struct wish *w = xmalloc(sizeof(*w));

	w->note = *note;
	w->next = g->wishes;
	g->wishes = w;
}

/* Refuses pipes and devices: the sandbox has only its own. */
static int refuse_special(struct gate_door *g, struct caller *c, const char *path)
{
	c->op = "read";
	keeper_deny(g->k, c, path, -EACCES,
		    "it is a named pipe or a device, which are not opened for the sandbox");
	return -EACCES;
}

/* Refuses a hidden file of a working folder without a question, even if a later rule allows it. */
static int refuse_withheld(struct gate_door *g, struct caller *c, const char *path)
{
	const char *why = NULL;
	enum policy_verdict v = policy_check_read(keeper_policy(g->k), RULE_READ, path, &why);

	c->op = "read";
	keeper_deny(g->k, c, path, -EACCES,
		    v != POLICY_ALLOW && why ? why : "it was hidden when the session began");
	return -EACCES;
}

static void judge(struct gate_door *g, const struct gate_note *note, bool granted)
{
	struct caller c = {.request = note->id,
			   .door = &g->door,
			   .granted = granted,
			   .op = note->exec  ? "execve"
				 : note->dir ? "opendir"
					     : "open"};
	int r = keeper_caller(g->k, note->tid, &c);

	if (r == 0 && note->withheld)
		r = refuse_withheld(g, &c, note->path);
	else if (r == 0 && note->special)
		r = refuse_special(g, &c, note->path);
	else if (r == 0)
		r = folder_read(g->k, &c, note->exec ? RULE_EXEC : RULE_READ, note->path, NULL);
	if (r == -FOLDER_HELD)
		park(g, note);
	else
		answer(g, note->id, r == 0 ? 0 : r == -ESRCH ? -EINTR : r);
}

static void cancel(struct gate_door *g, uint64_t id)
{
	struct wish *w = take(g, id);

	if (!w)
		return;
	free(w);
	keeper_request_gone(g->k, &g->door, id);
}

static int serve(struct door *d, short events)
{
	struct gate_door *g = (struct gate_door *)d;
	struct gate_note note;

	(void)events;
	for (int i = 0; i < AT_ONCE; i++) {
		ssize_t n = recv(d->fd, &note, sizeof(note), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n <= (ssize_t)GATE_NOTE_HEAD)
			return -EPIPE;
		note.path[MIN((size_t)n - GATE_NOTE_HEAD, sizeof(note.path)) - 1] = '\0';
		if (note.what == GATE_CANCEL)
			cancel(g, note.id);
		else if (note.what == GATE_ASK)
			judge(g, &note, false);
		else if (note.what == GATE_COUNT)
			count(g);
		else if (note.what == GATE_LOOKED)
			gate_looks_note(&g->looks, g->k, &g->door, &note);
	}
	return 0;
}

static void answered(struct door *d, uint64_t id, enum door_verdict verdict)
{
	struct gate_door *g = (struct gate_door *)d;
	struct wish *w = take(g, id);

	if (!w)
		return;
	if (verdict == VERDICT_DENY || verdict == VERDICT_STOP)
		answer(g, id, verdict == VERDICT_DENY ? -EACCES : -EPERM);
	else
		judge(g, &w->note, verdict == VERDICT_ALLOW);
	free(w);
}

static void drop_all(struct door *d)
{
	struct gate_door *g = (struct gate_door *)d;

	while (g->wishes) {
		struct wish *w = g->wishes;

		g->wishes = w->next;
		answer(g, w->note.id, -EACCES);
		free(w);
	}
}

static void granted(struct door *d, enum rule_kind kind, const char *dir, const struct answer *a)
{
	gate_shown_granted(&((struct gate_door *)d)->shown, kind, dir, a);
}

static void cover(struct door *d, const char *path)
{
	gate_shown_cover(&((struct gate_door *)d)->shown, path);
}

static int show_tool_dir(struct door *d, const char *path)
{
	return gate_shown_tool_dir(&((struct gate_door *)d)->shown, path);
}

/* Counts the change first: from then on the server allows nothing by its outdated rules. */
static void ruled(struct door *d, const struct ruled *r)
{
	struct gate_door *g = (struct gate_door *)d;
	struct gate_note note = {.id = r->id, .what = r->answer ? GATE_GIVEN : GATE_REVOKED};

	atomic_store(&g->page->changes, ++g->changes);
	if (r->answer) {
		note.kind = r->kind;
		note.answer = *r->answer;
		if (strlen(r->path) >= sizeof(note.path))
			return; /* the server will ask */
		snprintf(note.path, sizeof(note.path), "%s", r->path);
	}
	tell(g, &note);
}

/* Packs the strings of a rule's line one after the other. Returns 0 if they are too long. */
static size_t pack(struct gate_note *note, const struct config_rule *rule)
{
	const char *const texts[] = {rule->name, rule->key, rule->value, rule->file};
	size_t at = 0;

	note->rule = *rule;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		size_t len = strlen(texts[i]) + 1;

		if (len > sizeof(note->path) - at)
			return 0;
		memcpy(note->path + at, texts[i], len);
		at += len;
	}
	return at;
}

static bool reruled(struct door *d, const struct config *c)
{
	struct gate_door *g = (struct gate_door *)d;
	struct gate_note note = {.what = GATE_RULE};
	size_t n = config_rules(c), len = 1;

	atomic_store(&g->page->changes, ++g->changes);
	for (size_t i = 0; i < n && len; i++) {
		const struct config_rule rule = config_rule(c, i);

		len = pack(&note, &rule);
		if (len)
			tell_bytes(g, &note, len);
	}
	note.what = GATE_RERULED;
	note.id = len ? n : UINT64_MAX; /* no number that the server has, so it will ask */
	tell_bytes(g, &note, 1);
	return gate_shown_remove(&g->shown);
}

/* Before a change, waits until the server has dropped the kernel's cached attributes. The server
 * answers at once, as it waits for no other process. */
static void tell_changes(struct gate_door *g, struct gate_note *note)
{
	const struct timespec wait = {.tv_nsec = SURE_MS * 1000000L};
	const int64_t end = clock_mono_us() + SURE_MS * 1000;
	uint32_t seen;

	note->what = GATE_CHANGES;
	g->n_changes++;
	if (send(g->door.fd, note, GATE_NOTE_HEAD + 1, MSG_NOSIGNAL) < 0)
		return; /* it has ended, so nothing is shown */
	while ((seen = atomic_load(&g->page->unsure)) != g->n_changes && clock_mono_us() < end)
		syscall(SYS_futex, &g->page->unsure, FUTEX_WAIT, seen, &wait, NULL, 0);
	if (seen != g->n_changes)
		log_warn("gate", "the read gate does not answer: stat(2) may be a second behind");
}

static void changing(struct door *d, const struct inode_id *list, size_t n, bool moved)
{
	struct gate_door *g = (struct gate_door *)d;
	struct gate_note note = {.n_inodes = 0};

	for (size_t i = 0; i < MIN(n, ARRAY_LEN(note.inodes)); i++)
		if (inode_set_add(&g->changing, &list[i]))
			note.inodes[note.n_inodes++] = list[i];
	/* A move gives all entries below a directory new names: the kernel drops all attributes. */
	if (note.n_inodes || moved)
		tell_changes(g, &note);
}

static void rolled_back(struct door *d, int64_t step)
{
	(void)step;
	tell_changes((struct gate_door *)d, &(struct gate_note){.n_inodes = 0});
}

static void close_door(struct door *d)
{
	struct gate_door *g = (struct gate_door *)d;

	drop_all(d);
	count(g);
	gate_page_free(g->page);
	inode_set_done(&g->changing);
	gate_shown_done(&g->shown);
	util_close_fd(&g->door.fd);
	gate_looks_done(&g->looks);
	free(g);
}

static const struct door_ops ops = {
	.serve = serve,
	.answered = answered,
	.drop_all = drop_all,
	.ruled = ruled,
	.reruled = reruled,
	.granted = granted,
	.cover = cover,
	.show_tool_dir = show_tool_dir,
	.changing = changing,
	.rolled_back = rolled_back,
	.lost = "the read gate has ended: until the session is started anew, reading fails where "
		"no rule grants it",
	.close = close_door,
};

struct door *gate_door_new(struct keeper *k, const struct gate_door_spec *spec)
{
	const struct gate_note arm = {.what = GATE_ARM};
	struct gate_door *g = xcalloc(1, sizeof(*g));

	g->door = (struct door){.ops = &ops, .fd = spec->sock};
	g->k = k;
	g->shown = (struct gate_shown){.k = k, .mounter = spec->mounter};
	g->page = spec->page;
	for (size_t i = 0; i < spec->plan->n; i++)
		if (spec->plan->ops[i].granted)
			gate_shown_add(&g->shown, spec->plan->ops[i].path);
	tell(g, &arm);
	return &g->door;
}
