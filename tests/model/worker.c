/* worker - both ends of the process that owns the journal. */
/* SPDX-License-Identifier: MIT */
#include "tests/model/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"

/* ---- inside -----------------------------------------------------------------------------------
 */

static void list_ids(struct inside *in, bool undone, int64_t *ids, size_t *n)
{
	struct step_info *list = NULL;
	struct err err = {0};
	size_t count = 0;

	*n = 0;
	if (journal_list(in->j, undone, &list, &count, &err) < 0) {
		fprintf(stderr, "# journal_list: %s\n", err.text);
		abort();
	}
	for (size_t i = 0; i < count && i < LIST_MAX; i++)
		ids[(*n)++] = list[i].id;
	step_info_free(list, count);
}

static void fill_lists(struct inside *in)
{
	struct reply *re = &in->sh->reply;

	list_ids(in, false, re->kept, &re->n_kept);
	list_ids(in, true, re->undone, &re->n_undone);
}

static void close_it(struct inside *in)
{
	journal_close(take_ptr(&in->k));
	journal_close(take_ptr(&in->j));
}

static void open_it(struct inside *in, const struct worker *w)
{
	struct journal_spec spec = {
		.folder = w->folder, .state_dir = w->state, .followed = w->second};
	struct reply *re = &in->sh->reply;
	struct err err = {0};

	re->r = journal_open(&in->j, &spec, NULL, &err);
	spec.folder = w->second;
	spec.with = in->j;
	spec.followed = false;
	if (re->r == 0 && w->second)
		re->r = journal_open(&in->k, &spec, NULL, &err);
	snprintf(re->words, sizeof(re->words), "%.199s", err.text);
	if (re->r == 0)
		fill_lists(in);
}

static void reopen(struct inside *in, const struct worker *w)
{
	for (int i = 0; i < HELD_MAX; i++)
		held_drop(&in->held[i]);
	close_it(in);
	memset(in->steps, 0, sizeof(in->steps));
	open_it(in, w);
}

/* A user who denies one in four. */
static int on_loss(void *data, enum loss what, uint64_t size)
{
	struct inside *in = data;

	(void)what;
	(void)size;
	return ++in->losses % 4 ? 0 : -EPERM;
}

struct step *part_of(struct inside *in, unsigned who, bool second)
{
	struct journal *j = journal_of(in, second);
	struct step *part = step_part(in->steps[who], j);
	struct err err = {0};

	if (part)
		return part;
	if (journal_begin_part(j, in->steps[who], &part, &err) == 0) {
		if (in->guarded[who])
			step_ask_before(part, on_loss, in);
		return part;
	}
	fprintf(stderr, "# journal_begin_part: %s\n", err.text);
	abort();
}

static int begin(struct inside *in, const struct act *a, struct err *err)
{
	static const enum step_kind kinds[] = {STEP_COMMAND, STEP_COMMAND, STEP_AMBIENT, STEP_API};
	bool second = in->k && a->y & 16;
	int r = journal_begin(journal_of(in, second), kinds[a->y % 4], "a step", &in->steps[a->who],
			      err);

	in->sh->reply.id = r < 0 ? 0 : step_id(in->steps[a->who]);
	in->guarded[a->who] = (a->y & 0xe0) == 0x20;
	if (r == 0 && in->guarded[a->who])
		step_ask_before(in->steps[a->who], on_loss, in);
	return r;
}

static int restore(struct inside *in, const struct act *a, struct err *err)
{
	struct reply *re = &in->sh->reply;
	const char *paths[] = {a->a, NULL};

	list_ids(in, false, re->kept, &re->n_kept);
	if (!re->n_kept)
		return -ENOENT;
	re->id = re->kept[a->x % re->n_kept];
	return journal_restore(journal_of(in, in_second(in, a->a)), re->id, paths, a->y & 1, err);
}

static void act_journal(struct inside *in, const struct worker *w, const struct act *a)
{
	struct reply *re = &in->sh->reply;
	struct err err = {0};
	struct step *s;

	switch ((int)a->kind) {
	case ACT_BEGIN:
		re->r = begin(in, a, &err);
		break;
	case ACT_COMMIT:
		re->r = journal_commit(in->steps[a->who], 0, &err);
		if (re->r >= 0)
			in->steps[a->who] = NULL;
		break;
	case ACT_ABORT:
		s = take_ptr(&in->steps[a->who]);
		re->r = a->y & 1 ? journal_roll_back(s, &err) : journal_abort(s, &err);
		break;
	case ACT_UNDO:
	case ACT_REDO:
		re->r = journal_undo(in->j, a->kind == ACT_UNDO ? UNDO_BACK : UNDO_REDO, a->x, a->y,
				     NULL, &err);
		break;
	case ACT_RESTORE:
		re->r = restore(in, a, &err);
		break;
	case ACT_TIDY:
	case ACT_PRUNE:
		re->r = upkeep(in->j, a, &re->pruned);
		if (re->r == 0 && in->k)
			re->r = upkeep(in->k, a, &re->pruned);
		break;
	default:
		reopen(in, w);
		return;
	}
	snprintf(re->words, sizeof(re->words), "%.199s", err.text);
	fill_lists(in);
}

static void perform(struct inside *in, const struct worker *w)
{
	const struct act a = in->sh->act;

	in->sh->reply = (struct reply){0};
	switch ((int)a.kind) {
	case ACT_BEGIN:
	case ACT_COMMIT:
	case ACT_ABORT:
	case ACT_UNDO:
	case ACT_REDO:
	case ACT_RESTORE:
	case ACT_TIDY:
	case ACT_PRUNE:
	case ACT_REOPEN:
		act_journal(in, w, &a);
		break;
	case ACT_EXTERNAL:
		act_external(in, &a);
		break;
	case ACT_POKE:
		act_poke(in, &a);
		break;
	case ACT_DROP:
		held_drop(&in->held[a.x % HELD_MAX]);
		break;
	case ACT_TMPFILE:
	case ACT_FDLINK:
	case ACT_FDMETA:
		act_held(in, &a);
		break;
	default:
		act_file(in, &a);
	}
}

static void become(const struct worker *w)
{
	if (w->uid != geteuid() &&
	    (setgroups(0, NULL) < 0 || setresgid(w->uid, w->uid, w->uid) < 0 ||
	     setresuid(w->uid, w->uid, w->uid) < 0))
		abort();
	/* The change of user has cleared both. */
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	umask(022);
}

static NORETURN void serve(const struct worker *w, int sock)
{
	struct inside *in = xcalloc(1, sizeof(*in));
	char byte;

	in->sh = w->sh;
	in->folder = w->folder;
	in->second = w->second;
	in->turn = in->sh->workers++ * 1000; /* no worker writes another one's content */
	for (int i = 0; i < HELD_MAX; i++)
		in->held[i].fd = in->held[i].place = -1;
	become(w);
	for (bool first = true; read(sock, &byte, 1) == 1; first = false) {
		in->sh->busy = true;
		if (first) {
			in->sh->reply = (struct reply){0};
			open_it(in, w);
		} else {
			perform(in, w);
		}
		in->sh->busy = false;
		if (write(sock, &byte, 1) != 1)
			break;
	}
	for (int i = 0; i < HELD_MAX; i++)
		held_drop(&in->held[i]);
	close_it(in);
	_exit(0);
}

/* ---- outside ----------------------------------------------------------------------------------
 */

void worker_init(struct worker *w, const struct setting *set, uid_t uid, bool pair)
{
	*w = (struct worker){.set = set, .uid = uid, .sock = -1};
	w->top = xasprintf("%s/model-XXXXXX", set->base);
	if (!mkdtemp(w->top)) {
		perror(w->top);
		exit(2);
	}
	w->folder = xasprintf("%s/work", w->top);
	w->second = pair ? xasprintf("%s/second", w->top) : NULL;
	w->state = set->state ? xasprintf("%s/%s", set->state, strrchr(w->top, '/') + 1)
			      : xasprintf("%s/state", w->top);
	if (mkdir(w->folder, 0755) < 0 || mkdir(w->state, 0700) < 0 ||
	    (pair && (mkdir(w->second, 0755) < 0 || chown(w->second, uid, (gid_t)-1) < 0)) ||
	    chown(w->folder, uid, (gid_t)-1) < 0 || chown(w->state, uid, (gid_t)-1) < 0 ||
	    chown(w->top, uid, (gid_t)-1) < 0) {
		perror(w->folder);
		exit(2);
	}
	w->sh = mmap(NULL, sizeof(*w->sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (w->sh == MAP_FAILED)
		exit(2);
}

void worker_done(struct worker *w)
{
	worker_stop(w);
	if (w->set->state && io_remove_tree(AT_FDCWD, w->state) < 0)
		fprintf(stderr, "# %s is left\n", w->state);
	if (io_remove_tree(AT_FDCWD, w->top) < 0) {
		AUTO_FREE char *command = xasprintf("chmod -R u+rwx '%s'", w->top);

		if (system(command) != 0 || io_remove_tree(AT_FDCWD, w->top) < 0)
			fprintf(stderr, "# %s is left\n", w->top);
	}
	free(w->top);
	free(w->folder);
	free(w->second);
	free(w->state);
	munmap(w->sh, sizeof(*w->sh));
}

static int gone(struct worker *w)
{
	int status;

	if (w->pid > 0)
		waitpid(w->pid, &status, 0);
	w->pid = 0;
	w->traced = false;
	util_close_fd(&w->sock);
	return -EPIPE;
}

static int exchange(struct worker *w)
{
	char byte = 'a';

	w->sh->busy = true; /* until the worker clears it */
	if (send(w->sock, &byte, 1, MSG_NOSIGNAL) != 1)
		return gone(w);
	if (w->traced && trace_run(w) < 0)
		return gone(w);
	if (read(w->sock, &byte, 1) == 1)
		return 0;
	fprintf(stderr, "# the worker died by itself\n");
	abort();
}

int worker_start(struct worker *w)
{
	unsigned calls = w->calls, steps = w->steps;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		exit(2);
	w->sock = pair[0];
	w->pid = fork();
	if (w->pid < 0)
		exit(2);
	if (w->pid == 0) {
		close(pair[0]);
		serve(w, pair[1]);
	}
	close(pair[1]);
	w->calls = 0;
	if (calls)
		worker_doom(w, calls, steps);
	r = exchange(w);
	return r < 0 ? r : w->sh->reply.r;
}

void worker_stop(struct worker *w)
{
	if (w->pid <= 0)
		return;
	if (w->traced)
		trace_end(w);
	shutdown(w->sock, SHUT_WR);
	gone(w);
}

int worker_act(struct worker *w, const struct act *a)
{
	w->sh->act = *a;
	return exchange(w);
}

void worker_doom(struct worker *w, unsigned calls, unsigned steps)
{
	w->calls = calls;
	w->steps = steps;
	if (w->pid > 0 && !w->traced)
		trace_begin(w);
}
