/* gate_door - the keeper's side of the read gate: requests in, calls of folder_read() out. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/gate/gate_priv.h"
#include "backends/linux/gate/inode_set.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/keeper/keeper.h"

/* Requests that are looked at in one turn of the keeper's loop: others wait as well. */
#define AT_ONCE 32
/* Most looks at hidden places that a session reports. */
#define LOOKS 200
/* Milliseconds in which the mounter has to answer. */
#define MOUNTER_MS 2000
/* Milliseconds in which the server has to make the kernel forget attributes; microseconds do. */
#define SURE_MS 1000

/* A request that was put to a human. */
struct wish {
	struct wish *next;
	struct gate_note note;
};

/* A tree or file over a gate. */
struct shown {
	struct shown *next;
	char *path;
};

struct gate_door {
	struct door door;
	struct keeper *k;
	int mounter;	 /* borrowed */
	uint32_t number; /* of the last note that the mounter has to answer */
	struct shown *shown;
	struct gate_page *page;
	uint64_t changes;	   /* as in the page, where another process could write */
	uint64_t counted;	   /* changes that the server has let in */
	struct inode_set changing; /* that the server knows of */
	uint32_t n_changes;
	struct wish *wishes;
	char *looks[LOOKS]; /* "PROGRAM PLACE" */
	size_t n_looks;
};

/* To a process that always reads; if it has died, nobody waits. */
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

/* A pipe or a device: the sandbox has none but its own. */
static int refuse_special(struct gate_door *g, struct caller *c, const char *path)
{
	c->op = "read";
	keeper_deny(g->k, c, path, -EACCES,
		    "it is a named pipe or a device, which are not opened for the sandbox");
	return -EACCES;
}

/* A hidden file of a working folder: nobody is asked, whatever the rules say by now. */
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

/* ---- looks at hidden places ------------------------------------------------------------------ */

/* What programs look at by habit: no sign of anything. The name is that of the file that runs. */
static const struct {
	const char *program, *place;
} habits[] = {
	{"git", "/"},
	{"git-remote-http", "/"},
	{"ssh", "/.ssh"},
	{"scp", "/.ssh"},
	{"sftp", "/.ssh"},
	{"ssh-add", "/.ssh"},
	{"ssh-keygen", "/.ssh"},
	{"node", "/.npmrc"},
	{"bun", "/.npmrc"},
	{"node", "/.node_repl_history"},
	{"curl", "/.netrc"},
	{"wget", "/.netrc"},
	{"docker", "/.docker"},
	{"aws", "/.aws"},
	{"kubectl", "/.kube"},
	{"gpg", "/.gnupg"},
	{"bash", "/.bash_history"},
	{"zsh", "/.zsh_history"},
	{"fish", "/fish_history"},
	{"less", "/.lesshst"},
	{"vim", "/.viminfo"},
	{"psql", "/.pgpass"},
	{"mysql", "/.my.cnf"},
	{"gh", "/.config/gh"},
	{"cargo", "/.cargo/credentials"},
};

static bool is_habit(const char *program, const char *place)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++)
		if (str_eq(program, habits[i].program) && strstr(place, habits[i].place))
			return true;
	return false;
}

/* The hidden place that path is or lies in. */
static const char *place_of(const struct keeper *k, const char *path)
{
	const char *const *list;
	size_t n = policy_hidden(keeper_policy(k), &list);

	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(path, list[i]))
			return list[i];
	return path;
}

static bool is_first(struct gate_door *g, const char *program, const char *place)
{
	AUTO_FREE char *look = xasprintf("%s %s", program, place);

	for (size_t i = 0; i < g->n_looks; i++)
		if (str_eq(g->looks[i], look))
			return false;
	if (g->n_looks == LOOKS)
		return false;
	g->looks[g->n_looks++] = take_ptr(&look);
	return true;
}

/* The first look of each program at each place leaves a trace. The look does not wait for us: of a
 * program that has ended meanwhile nothing but its number is known. */
static void looked(struct gate_door *g, const struct gate_note *note)
{
	struct caller c = {.door = &g->door, .op = LOOKED_FOR};
	const char *place = place_of(g->k, note->path), *program = "";
	char link[32], exe[PATH_MAX];
	ssize_t n;

	if (g->n_looks == LOOKS)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", note->tid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		program = path_base(exe);
	}
	if (is_habit(program, place) || !is_first(g, program, place))
		return;
	if (keeper_caller(g->k, note->tid, &c) < 0)
		c.pid = c.tid = note->tid;
	keeper_looked(g->k, &c, note->path);
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
			looked(g, &note);
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

/*
 * Can it be shown natively: for good, all of it, and will the rules have no say in anything that
 * lies or will lie in it?
 */
static bool is_whole(const struct keeper *k, const char *dir)
{
	const char *why;

	return policy_check_read(keeper_policy(k), RULE_READ, dir, &why) == POLICY_ALLOW &&
	       !policy_restricts(keeper_policy(k), dir);
}

static void add_shown(struct gate_door *g, const char *path)
{
	struct shown *s = xcalloc(1, sizeof(*s));

	s->path = xstrdup(path);
	s->next = g->shown;
	g->shown = s;
}

/* Sends the note about path. A path that is too long is no place of the mounter's. */
static bool send_note(const struct gate_door *g, struct bind_note *note, const char *path,
		      int flags)
{
	size_t len = strlen(path) + 1;
	ssize_t n;

	if (len > sizeof(note->path))
		return false;
	memcpy(note->path, path, len);
	do
		n = send(g->mounter, note, BIND_NOTE_HEAD + len, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Returns whether the mounter has answered, in *note. It never waits for the keeper meanwhile. An
 * answer to an earlier note, which came too late for it, is dropped. */
static bool ask_mounter(struct gate_door *g, struct bind_note *note, const char *path)
{
	const int64_t end = clock_mono_us() + MOUNTER_MS * 1000;
	struct pollfd p = {.fd = g->mounter, .events = POLLIN};
	const uint32_t number = note->number = ++g->number;
	int64_t left;

	if (!send_note(g, note, path, 0))
		return false;
	while ((left = end - clock_mono_us()) > 0) {
		const int n = poll(&p, 1, (int)(left / 1000) + 1);

		if (n < 0 && errno != EINTR)
			return false;
		if (n <= 0)
			continue;
		if (recv(g->mounter, note, sizeof(*note), MSG_DONTWAIT) <= 0)
			return false; /* it has ended */
		if (note->number == number)
			return true;
	}
	return false;
}

/* False: it is shown still. */
static bool take_away(struct gate_door *g, const char *path)
{
	struct bind_note note = {.on = false};

	return ask_mounter(g, &note, path) && !note.on;
}

static int show_tool_dir(struct door *d, const char *path)
{
	struct bind_note note = {.tool = true};

	if (!ask_mounter((struct gate_door *)d, &note, path))
		return -EIO;
	return note.on ? 0 : -EEXIST;
}

/* What lies under the gate again asks the rules for each open. */
static bool take_away_shown(struct gate_door *g)
{
	bool all = true;

	for (struct shown **p = &g->shown; *p;) {
		struct shown *s = *p;

		if (is_whole(g->k, s->path) || !take_away(g, s->path)) {
			all = all && is_whole(g->k, s->path);
			p = &s->next;
			continue;
		}
		*p = s->next;
		free(s->path);
		free(s);
	}
	return all;
}

static void granted(struct door *d, enum rule_kind kind, const char *dir, const struct answer *a)
{
	struct gate_door *g = (struct gate_door *)d;
	struct bind_note note = {.on = true};

	if (kind != RULE_READ || strlen(dir) >= sizeof(note.path))
		return;
	if (!a->allow) {
		if (!take_away_shown(g))
			keeper_warn(g->k, "what you took back stays shown until the session ends: "
					  "a working folder or a mount lies in it");
		return;
	}
	if (a->extent != EXTENT_TREE || a->scope < SCOPE_SESSION || a->until ||
	    !is_whole(g->k, dir))
		return;
	/* Where the socket is full the directory stays behind the gate, which is slower alone. */
	if (send_note(g, &note, dir, MSG_DONTWAIT))
		add_shown(g, dir);
}

/* A file of a working folder. */
static void cover(struct door *d, const char *path)
{
	const struct gate_door *g = (struct gate_door *)d;
	struct bind_note note = {.cover = true};

	/* Waits where the socket is full: a file whose note is lost would stay readable. */
	(void)send_note(g, &note, path, 0);
}

/* Counted first: from here on the server lets nothing in by the rules that it had. */
static void ruled(struct door *d, const struct ruled *r)
{
	struct gate_door *g = (struct gate_door *)d;
	struct gate_note note = {.id = r->id, .what = r->answer ? GATE_GIVEN : GATE_REVOKED};

	atomic_store(&g->page->changes, ++g->changes);
	if (r->answer) {
		note.kind = r->kind;
		note.answer = *r->answer;
		if (strlen(r->path) >= sizeof(note.path))
			return; /* it asks from now on */
		snprintf(note.path, sizeof(note.path), "%s", r->path);
	}
	tell(g, &note);
}

/* The strings of a rule's line one behind the other; 0: it is too long. */
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
	note.id = len ? n : UINT64_MAX; /* not what has come: it asks from now on */
	tell_bytes(g, &note, 1);
	return take_away_shown(g);
}

/* Waits until the server has made the kernel forget the attributes, before the change. The server
 * answers at once, as it waits for no other process. */
static void tell_changes(struct gate_door *g, struct gate_note *note)
{
	const struct timespec wait = {.tv_nsec = SURE_MS * 1000000L};
	const int64_t end = clock_mono_us() + SURE_MS * 1000;
	uint32_t seen;

	note->what = GATE_CHANGES;
	g->n_changes++;
	if (send(g->door.fd, note, GATE_NOTE_HEAD + 1, MSG_NOSIGNAL) < 0)
		return; /* it has ended, and nothing shows */
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
	/* Of a directory that moves all that lies in it is told by new names. */
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
	while (g->shown) {
		struct shown *one = g->shown;

		g->shown = one->next;
		free(one->path);
		free(one);
	}
	util_close_fd(&g->door.fd);
	for (size_t i = 0; i < g->n_looks; i++)
		free(g->looks[i]);
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
	g->mounter = spec->mounter;
	g->page = spec->page;
	for (size_t i = 0; i < spec->plan->n; i++)
		if (spec->plan->ops[i].granted)
			add_shown(g, spec->plan->ops[i].path);
	tell(g, &arm);
	return &g->door;
}
