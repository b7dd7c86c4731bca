/* rewritten - finds branches and tags that no longer contain their commit from before a session. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/rewritten.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/git2.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/file.h"
#include "core/os/socket.h"
#include "core/os/text.h"

#define REFS_MAX    1000
#define PACKED_MAX  (16u << 20)
#define FILES_SHOWN 5
#define SECONDS	    2
#define DIRS_MAX    200
#define ROWS_MAX    (1u << 20)
#define HEX	    64

struct ref {
	char *name; /* refs/heads/main */
	char was[HEX + 1], is[HEX + 1];
};

struct refs {
	const char *git_dir; /* absolute */
	const char *base;    /* base of changes there, as in struct change */
	char *prefix;	     /* start of their paths: ".git/", or "" */
	struct ref *list;
	size_t n;
	char *packed; /* its old content; NULL: it has not changed */
	bool cut;     /* there were more than REFS_MAX */
};

/* ---- has anything changed -------------------------------------------------------------------- */

static bool is_newer(const char *path, int64_t since_us)
{
	struct stat st;

	return lstat(path, &st) == 0 &&
	       OS_CTIME(&st).tv_sec * INT64_C(1000000) + OS_CTIME(&st).tv_nsec / 1000 >= since_us;
}

static bool tree_is_newer(const char *dir, int64_t since_us, unsigned *left)
{
	AUTO_DIR DIR *d = NULL;
	const struct dirent *e;

	if (!*left || is_newer(dir, since_us))
		return true;
	(*left)--;
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		AUTO_FREE char *path = path_join(dir, e->d_name);

		if (*e->d_name != '.' && (e->d_type == DT_DIR ? tree_is_newer(path, since_us, left)
							      : is_newer(path, since_us)))
			return true;
	}
	return false;
}

bool rewritten_may_be(const char *git_dir, int64_t since_us)
{
	AUTO_FREE char *heads = path_join(git_dir, "refs/heads");
	AUTO_FREE char *tags = path_join(git_dir, "refs/tags");
	AUTO_FREE char *packed = path_join(git_dir, "packed-refs");
	unsigned left = DIRS_MAX;

	return is_newer(packed, since_us) || tree_is_newer(heads, since_us, &left) ||
	       tree_is_newer(tags, since_us, &left);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Reads hex digits in upper or lower case, as git does. */
static void take_hex(char ret[HEX + 1], const char *text)
{
	const size_t n = strspn(text, "0123456789abcdefABCDEF");

	*ret = '\0';
	if (n != 40 && n != HEX)
		return;
	for (size_t i = 0; i < n; i++)
		ret[i] = (char)(text[i] | 0x20); /* digits have this bit, too */
	ret[n] = '\0';
}

static void find_packed(char ret[HEX + 1], const char *packed, const char *name)
{
	AUTO_FREE char *want = xasprintf(" %s\n", name);
	const char *at = packed ? strstr(packed, want) : NULL, *line;

	*ret = '\0';
	if (!at)
		return;
	line = memrchr(packed, '\n', (size_t)(at - packed));
	take_hex(ret, line ? line + 1 : packed);
}

/* Reads the file of a ref. Returns whether there is one, which then counts whatever it contains. */
static bool read_loose(char ret[HEX + 1], const char *git_dir, const char *name)
{
	AUTO_FREE char *path = path_join(git_dir, name);
	AUTO_FREE char *text = NULL;
	struct stat st;
	size_t len;

	*ret = '\0';
	if (lstat(path, &st) < 0 || S_ISDIR(st.st_mode))
		return false;
	if (io_read_file(AT_FDCWD, path, 4096, &text, &len) == 0)
		take_hex(ret, text);
	return true;
}

/* ---- refs in the steps ----------------------------------------------------------------------- */

static struct ref *find(const struct refs *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->list[i].name, name))
			return &r->list[i];
	return NULL;
}

static struct ref *add(struct refs *r, const char *name)
{
	struct ref *ref;

	r->list = xrealloc(r->list, (r->n + 1) * sizeof(*r->list));
	ref = &r->list[r->n++];
	*ref = (struct ref){.name = xstrdup(name)};
	return ref;
}

/* Returns the bytes before the step; NULL: there are none. */
static char *before(struct journal *j, int64_t id, const struct change *c, size_t max)
{
	AUTO_CLOSE int fd = -1;
	struct err ignored = {0};
	char *text = NULL;
	size_t len;

	if (!c->before.exists || !S_ISREG(c->before.mode) ||
	    journal_content(j, id, c, false, &fd, &ignored) < 0 ||
	    io_read_all(fd, max, &text, &len) < 0)
		return NULL;
	return text;
}

static bool is_ref(const char *name)
{
	return name && (str_starts(name, "refs/heads/") || str_starts(name, "refs/tags/")) &&
	       !str_ends(name, ".lock");
}

/* Returns the path in the git directory, a part of path; NULL: it is elsewhere. */
static const char *in_git_dir(const struct refs *r, const char *base, const char *path)
{
	if (!path || (base ? !r->base || !str_eq(base, r->base) : r->base != NULL) ||
	    !str_starts(path, r->prefix))
		return NULL;
	return path + strlen(r->prefix);
}

static void take_change(struct refs *r, struct journal *j, int64_t id, const struct change *c)
{
	const bool renamed = c->kind == CHANGE_RENAMED;
	const char *now = in_git_dir(r, c->base, c->path);
	const char *old = renamed ? in_git_dir(r, c->base, c->old_path) : now;
	AUTO_FREE char *text = NULL;

	if (now && str_eq(now, "packed-refs") && !r->packed) {
		text = before(j, id, c, PACKED_MAX);
		r->packed = text ? take_ptr(&text) : xstrdup("");
	}
	if (renamed && is_ref(now) && !find(r, now))
		add(r, now);
	if (!is_ref(old) || find(r, old))
		return;
	if (r->n >= REFS_MAX) {
		r->cut = true;
		return;
	}
	text = before(j, id, c, 4096);
	take_hex(add(r, old)->was, text ? text : "");
}

static int64_t session_after(struct journal *j)
{
	struct turn_mark *marks = NULL;
	struct err ignored = {0};
	int64_t after = INT64_MAX;
	size_t n = 0;

	if (journal_turns(j, &marks, &n, &ignored) < 0)
		return after;
	while (n-- > 0 && after == INT64_MAX)
		if (marks[n].session)
			after = marks[n].after;
	turn_marks_free(marks, n + 1);
	return after;
}

static int collect(struct refs *r, struct journal *j, struct err *err)
{
	const int64_t after = session_after(j);
	struct step_info *steps = NULL;
	size_t n = 0;
	int e = journal_list(j, false, &steps, &n, err);

	for (size_t i = n; e == 0 && i-- > 0;) {
		struct change *changes = NULL;
		size_t m = 0;

		if (llabs(steps[i].id) <= after || (steps[i].elsewhere && !r->base))
			continue;
		e = journal_changes(j, steps[i].id, &changes, &m, err);
		for (size_t k = 0; e == 0 && k < m; k++)
			take_change(r, j, steps[i].id, &changes[k]);
		change_free(changes, m);
	}
	step_info_free(steps, n);
	return e;
}

/* Adds the refs of the old packed-refs whose own files no step has changed. */
static void add_packed(struct refs *r)
{
	for (char *line = r->packed; line && *line;) {
		const size_t n = strcspn(line, "\n");
		AUTO_FREE char *text = xstrndup(line, n);
		char *name = strchr(text, ' ');
		char loose[HEX + 1];

		line += n + (line[n] == '\n');
		if (!name ||
		    (!str_starts(name, " refs/heads/") && !str_starts(name, " refs/tags/")) ||
		    find(r, name + 1))
			continue;
		if (read_loose(loose, r->git_dir, name + 1))
			continue;
		if (r->n >= REFS_MAX) {
			r->cut = true;
			return;
		}
		take_hex(add(r, name + 1)->was, text);
	}
}

static void fill(struct refs *r)
{
	AUTO_FREE char *path = path_join(r->git_dir, "packed-refs");
	AUTO_FREE char *packed = NULL;
	size_t len;

	if (io_read_file(AT_FDCWD, path, PACKED_MAX, &packed, &len) < 0)
		packed = NULL;
	add_packed(r);
	for (size_t i = 0; i < r->n; i++) {
		struct ref *ref = &r->list[i];

		if (!*ref->was)
			find_packed(ref->was, r->packed ? r->packed : packed, ref->name);
		if (!read_loose(ref->is, r->git_dir, ref->name))
			find_packed(ref->is, packed, ref->name);
	}
}

/* ---- commits of the refs --------------------------------------------------------------------- */

static git_object *peeled(const struct git2 *g, git_repository *repo, const char *hex,
			  git_object_t type)
{
	git_object *any = NULL, *got = NULL;
	git_oid oid;

	if (g->git_oid_fromstrp(&oid, hex) < 0 ||
	    g->git_object_lookup(&any, repo, &oid, GIT_OBJECT_ANY) < 0)
		return NULL;
	if (g->git_object_peel(&got, any, type) < 0)
		got = NULL;
	g->git_object_free(any);
	return got;
}

/* Adds "; 3 files differ: a, b, c". */
static void add_files(const struct git2 *g, git_repository *repo, const struct ref *ref,
		      struct buf *out)
{
	git_object *was = peeled(g, repo, ref->was, GIT_OBJECT_TREE);
	git_object *is = peeled(g, repo, ref->is, GIT_OBJECT_TREE);
	git_diff *diff = NULL;
	size_t n;

	if (was && is &&
	    g->git_diff_tree_to_tree(&diff, repo, (git_tree *)was, (git_tree *)is, NULL) == 0) {
		n = g->git_diff_num_deltas(diff);
		buf_fmt(out, n ? "; %zu file%s differ%s" : "; the files are the same", n,
			n == 1 ? "" : "s", n == 1 ? "s" : "");
		for (size_t i = 0; i < n && i < FILES_SHOWN; i++)
			buf_fmt(out, "%s%s", i ? ", " : ": ",
				g->git_diff_get_delta(diff, i)->new_file.path);
		buf_str(out, n > FILES_SHOWN ? " ..." : "");
		g->git_diff_free(diff);
	}
	g->git_object_free(was);
	g->git_object_free(is);
}

static bool leads_to(const struct git2 *g, git_repository *repo, const char *from, const char *to)
{
	git_object *a = peeled(g, repo, from, GIT_OBJECT_COMMIT);
	git_object *b = peeled(g, repo, to, GIT_OBJECT_COMMIT);
	bool yes =
		a && b &&
		(g->git_oid_cmp(g->git_object_id(a), g->git_object_id(b)) == 0 ||
		 g->git_graph_descendant_of(repo, g->git_object_id(a), g->git_object_id(b)) == 1);

	g->git_object_free(a);
	g->git_object_free(b);
	return yes;
}

static void judge_ref(const struct git2 *g, git_repository *repo, const struct ref *ref,
		      struct buf *out)
{
	const bool tag = str_starts(ref->name, "refs/tags/");
	const char *name = ref->name + strlen(tag ? "refs/tags/" : "refs/heads/");

	if (!*ref->was || str_eq(ref->was, ref->is) ||
	    (*ref->is && !tag && leads_to(g, repo, ref->is, ref->was)))
		return;
	buf_fmt(out, "%s '%s' no longer leads to %.10s, where it was, but ", tag ? "tag" : "branch",
		name, ref->was);
	if (*ref->is) {
		buf_fmt(out, "to %.10s", ref->is);
		add_files(g, repo, ref, out);
	} else {
		buf_str(out, "is gone, or names another ref");
	}
	buf_ch(out, '\0'); /* a name may have a line break */
}

static bool judge_all(const struct refs *r, int to)
{
	AUTO_FREE char *objects = path_join(r->git_dir, "objects");
	AUTO_BUF struct buf out = BUF_INIT;
	const struct git2 *g = git2_get(NULL);
	git_repository *repo = NULL;
	git_odb *odb = NULL;

	if (!g || g->git_odb_open(&odb, objects) < 0 || g->git_repository_wrap_odb(&repo, odb) < 0)
		return false;
	for (size_t i = 0; i < r->n; i++) {
		buf_clear(&out);
		judge_ref(g, repo, &r->list[i], &out);
		if (out.len && io_write_all(to, out.data, out.len) < 0)
			return false;
	}
	return true;
}

/* Reads the objects in a child, as hostile ones may do anything to the process that reads them.
 * Returns 0, or -EIO with the rows so far if the child did not finish. */
static int ask_child(const struct refs *r, int (*confine)(struct err *err), char **ret,
		     size_t *ret_len)
{
	const struct rlimit time = {SECONDS, SECONDS}, memory = {2u << 30, 2u << 30};
	int fds[2], pid, status = 0, e = 0;
	struct err ignored = {0};
	sigset_t none;

	if (!git2_get(&ignored)) /* loads a library, which the child cannot do */
		return -EIO;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CPU, &time);
		setrlimit(RLIMIT_AS, &memory);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGALRM, SIG_DFL);
		alarm(SECONDS);
		if (confine && confine(&ignored) < 0)
			_exit(1);
		_exit(!judge_all(r, fds[1]));
	}
	close(fds[1]);
	if (pid > 0) {
		e = io_read_all(fds[0], ROWS_MAX, ret, ret_len);
		close(fds[0]);
		waitpid(pid, &status, 0);
		return e < 0 || status != 0 ? -EIO : 0;
	}
	close(fds[0]);
	return -EAGAIN;
}

/* ---- entry ----------------------------------------------------------------------------------- */

int rewritten_each(struct journal *j, const struct rewritten_in *in,
		   void (*say)(void *data, const char *words), void *data, struct err *err)
{
	const char *below = path_below(in->git_dir, in->outside ? in->outside : in->folder);
	struct refs r = {.git_dir = in->git_dir,
			 .base = in->outside,
			 .prefix = xasprintf("%s%s", below, *below ? "/" : "")};
	AUTO_FREE char *rows = NULL;
	size_t len = 0;
	int e = collect(&r, j, err);

	if (e == 0)
		fill(&r);
	if (e == 0 && r.n)
		e = ask_child(&r, in->confine, &rows, &len);
	for (const char *row = rows; row && row < rows + len; row += strlen(row) + 1)
		say(data, row);
	if (e == 0 && r.cut)
		e = -E2BIG;
	if (e == -EIO)
		err_say(err, e, "git's objects could not be read in %d seconds", SECONDS);
	else if (e == -E2BIG)
		err_say(err, e, "more than %d branches and tags would have to be compared",
			REFS_MAX);
	for (size_t i = 0; i < r.n; i++)
		free(r.list[i].name);
	free(r.list);
	free(r.packed);
	free(r.prefix);
	return e;
}
