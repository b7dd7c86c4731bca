/* plan - the list of operations that build the sandbox's file tree, made before the first mount. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/plan_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/linux/sandbox/overlay.h"
#include "core/base/path.h"

struct plan_op *plan_add(struct plan *p, enum plan_what what, const char *path, const char *source)
{
	struct plan_op *op;

	if (p->n == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 64;
		p->ops = xrealloc(p->ops, p->cap * sizeof(*p->ops));
	}
	op = &p->ops[p->n++];
	*op = (struct plan_op){.what = what, .mode = 0755, .dir = true};
	op->path = xstrdup(path);
	op->source = xstrdup(source);
	return op;
}

void plan_push(char ***list, size_t *n, size_t *cap, const char *s)
{
	if (*n == *cap) {
		*cap = *cap ? 2 * *cap : 16;
		*list = xrealloc(*list, *cap * sizeof(**list));
	}
	(*list)[(*n)++] = xstrdup(s);
}

/* ---- private places -------------------------------------------------------------------------- */

struct private_dir {
	const char *path;
	const char *options; /* of its tmpfs; NULL: another mount is made there */
	bool always;	     /* exists inside, even if the host has none */
};

/*
 * Sizes are limits, not reservations. The files count against the cgroup's memory limit, too.
 * Without a cgroup these sizes bound the memory that a full /tmp takes from the host.
 */
static const struct private_dir private_dirs[] = {
	{"/tmp", "mode=1777,size=50%", true},
	{"/run", "mode=0755,size=10%", true},
	{"/dev", "mode=0755,size=25%", true},
	{"/var/tmp", "mode=1777,size=25%", false},
	{"/var/run", "mode=0755,size=10%", false},
	{"/var/lock", "mode=1777,size=10%", false},
	{"/proc", NULL, true},
	{"/sys", NULL, true},
};

bool plan_is_private(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++) {
		if (path_is_beneath(path, private_dirs[i].path))
			return true;
	}
	return false;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void private_tmpfs(struct plan *p)
{
	for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++) {
		const struct private_dir *d = &private_dirs[i];

		/* On most hosts /var/run and /var/lock are links into the private /run. */
		if (!d->options || plan_is_hidden(p, d->path) ||
		    (!d->always && !is_directory(d->path)))
			continue;
		plan_add(p, PLAN_TMPFS, d->path, d->options);
		plan_push(&p->writable, &p->n_writable, &p->cap_writable, d->path);
	}
}

static void devices(struct plan *p, const struct spawn_spec *spec)
{
	static const char *const nodes[] = {"/dev/null",   "/dev/zero",	   "/dev/full",
					    "/dev/random", "/dev/urandom", "/dev/tty"};
	static const char *const links[][2] = {{"/dev/ptmx", "pts/ptmx"},
					       {"/dev/fd", "/proc/self/fd"},
					       {"/dev/stdin", "/proc/self/fd/0"},
					       {"/dev/stdout", "/proc/self/fd/1"},
					       {"/dev/stderr", "/proc/self/fd/2"}};
	char link[64], tty[64];
	ssize_t n;

	for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
		if (access(nodes[i], F_OK) == 0) /* a chroot may lack /dev/tty */
			plan_add(p, PLAN_DEVICE, nodes[i], nodes[i])->dir = false;
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		plan_add(p, PLAN_LINK, links[i][0], links[i][1]);
	plan_add(p, PLAN_DIR, "/dev/pts", NULL);
	/* Group 5 is tty on hosts where terminals have a group; an ordinary user's namespace lacks
	 * it. max: all sandboxes and containers of a host share 3072 terminals. */
	plan_add(p, PLAN_DEVPTS, "/dev/pts",
		 geteuid() == 0 ? "newinstance,ptmxmode=0666,mode=620,max=512,gid=5"
				: "newinstance,ptmxmode=0666,mode=620,max=512");
	plan_add(p, PLAN_DIR, "/dev/shm", NULL)->mode = 01777;
	if (!spec->tty)
		return;
	/* The agent's terminal is a pty of the host, which ttyname(3) finds here. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", spec->stdio[0]);
	n = readlink(link, tty, sizeof(tty) - 1);
	if (n > 0 && tty[0] == '/') {
		struct plan_op *op;

		tty[n] = '\0';
		op = plan_add(p, PLAN_DEVICE, "/dev/console", tty);
		op->dir = false;
		op->optional = true;
	}
}

/*
 * Seals the files of /proc that concern the whole machine, whichever this kernel has. Without
 * capabilities an ordinary user can change none of them, but for root the kernel checks the user id
 * alone. Directories of processes stay writable.
 */
static void seal_proc(struct plan *p)
{
	AUTO_DIR DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		AUTO_FREE char *path = xasprintf("/proc/%s", e->d_name);
		struct stat st;

		if (e->d_name[0] == '.' || (e->d_name[0] >= '0' && e->d_name[0] <= '9') ||
		    lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_mode & 0222))
			plan_add(p, PLAN_BIND_RO, path, NULL)->optional = true;
	}
}

static void proc(struct plan *p, const struct spawn_spec *spec)
{
	/* hidepid hides processes that the agent may not inspect: pid 1. */
	plan_add(p, PLAN_PROC, "/proc", "hidepid=ptraceable");
	plan_push(&p->writable, &p->n_writable, &p->cap_writable, "/proc");
	/* A nested sandbox may mount its own /proc only if no file of this one is covered. */
	if (geteuid() == 0 || !spec->nesting)
		seal_proc(p);
}

static void run(struct plan *p, const struct spawn_spec *spec)
{
	static const char system[] = "/run/current-system"; /* NixOS keeps its programs here */
	char text[4096], dir[64];
	AUTO_FREE char *resolv = NULL;
	struct plan_op *op;
	ssize_t n;

	plan_add(p, PLAN_DIR, "/run/lock", NULL)->mode = 01777;
	plan_add(p, PLAN_DIR, "/run/user", NULL);
	snprintf(dir, sizeof(dir), "/run/user/%u", (unsigned)geteuid());
	plan_add(p, PLAN_DIR, dir, NULL)->mode = 0700;
	n = readlink(system, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = '\0';
		plan_add(p, PLAN_LINK, system, text);
	}
	if (spec->cache)
		plan_add(p, PLAN_BIND_RW, CACHE_INSIDE, spec->cache);
	if (spec->ca) {
		op = plan_add(p, PLAN_BIND_RO, CA_INSIDE, spec->ca);
		op->dir = false;
		op->make = true;
	}
	if (!spec->allow_network && !spec->resolv)
		return;
	resolv = realpath("/etc/resolv.conf", NULL);
	if (!resolv || (!spec->resolv && !path_is_beneath(resolv, "/run")))
		return;
	op = plan_add(p, PLAN_BIND_RO, resolv, spec->resolv ? spec->resolv : resolv);
	op->dir = false;
	op->make = true;
	op->optional = true;
}

/* Shows the parts that common tools read: processors, memory nodes, huge pages. */
static void sys(struct plan *p)
{
	static const char *const trees[] = {"/sys/devices/system", "/sys/kernel/mm"};

	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		struct plan_op *op = plan_add(p, PLAN_BIND, trees[i], trees[i]);

		op->make = true;
		op->optional = true;
	}
}

/* ---- working folders and overlays ------------------------------------------------------------ */

static int check_folders(const struct spawn_spec *spec, struct err *err)
{
	static const char *const never[] = {"/proc", "/sys", "/dev"};

	for (const char *const *f = spec->folders; f && *f; f++) {
		if ((*f)[0] != '/' || str_eq(*f, "/"))
			return err_say(err, -EINVAL, "'%s' cannot be a working folder", *f);
		for (size_t i = 0; i < ARRAY_LEN(never); i++) {
			if (path_is_beneath(*f, never[i]) && !path_is_beneath(*f, "/dev/shm"))
				return err_say(err, -EINVAL,
					       "'%s' lies in %s: it cannot be a working folder", *f,
					       never[i]);
		}
	}
	return 0;
}

/* Mounts folders. A folder that the host's tree shows already needs no mount. */
static void folders(struct plan *p, const char *const *list, bool private)
{
	for (const char *const *f = list; f && *f; f++) {
		struct plan_op *op;

		if (plan_is_private(*f) != private)
			continue;
		if (private || plan_is_hidden(p, *f) || plan_is_covered(p, *f)) {
			op = plan_add(p, private ? PLAN_BIND_RO : PLAN_BIND, *f, *f);
			/* On a gate no mount point can be made, and existing ones show. */
			op->make = !plan_is_covered(p, *f);
		}
		plan_push(&p->sealed, &p->n_sealed, &p->cap_sealed, *f);
	}
}

/* Refuses an overlay that would cover a working folder, whose changes would be lost, or a path that
 * must stay read-only. */
static int check_overlay(const struct plan *p, const struct spawn_spec *spec, const char *path,
			 struct err *err)
{
	if (path_is_in(path, spec->folders))
		return err_say(err, -EINVAL,
			       "overlay '%s' lies in a working folder, which is undoable as it is",
			       path);
	for (const char *const *f = spec->folders; f && *f; f++)
		if (path_is_beneath(*f, path))
			return err_say(err, -EINVAL,
				       "overlay '%s': the working folder '%s' lies in it: name "
				       "those directories of it that you mean",
				       path, *f);
	for (size_t i = 0; i < p->n_sealed; i++)
		if (path_is_beneath(p->sealed[i], path))
			return err_say(err, -EINVAL, "overlay '%s': '%s' %s: name another", path,
				       p->sealed[i],
				       str_eq(p->sealed[i], path) ? "stays read-only"
								  : "in it stays read-only");
	return 0;
}

static int add_overlay(struct plan *p, const struct spawn_spec *spec, size_t i, struct err *err)
{
	const struct overlay_place *place = spec->places ? &spec->places[i] : NULL;
	const char *path = spec->overlays[i];
	AUTO_FREE char *options = NULL, *upper = NULL;
	struct plan_op *op;
	int r = 0;

	/* Only the gate shows a directory that the host lacks; it may have failed to start. */
	if (place && place->empty && p->read != READ_FUSE && access(path, F_OK) < 0)
		return 0;
	if (!place || !place->empty)
		r = overlay_prepare(&options, &upper, spec, i, err);
	if (r < 0)
		return r;
	if (!plan_is_covered(p, path) && (plan_is_private(path) || plan_is_hidden(p, path)))
		plan_add(p, PLAN_MKDIRS, path, NULL);
	op = options ? plan_add(p, PLAN_OVERLAY, path, options)
		     : plan_add(p, PLAN_BIND_RW, path, place ? place->dir : NULL);
	if (place && place->optional)
		op->instead = take_ptr(&upper);
	plan_push(&p->writable, &p->n_writable, &p->cap_writable, path);
	return 0;
}

static int overlays(struct plan *p, const struct spawn_spec *spec, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && spec->overlays && spec->overlays[i]; i++)
		if (!spec->places || !spec->places[i].optional)
			r = check_overlay(p, spec, spec->overlays[i], err);
	for (size_t i = 0; r == 0 && spec->overlays && spec->overlays[i]; i++)
		r = add_overlay(p, spec, i, err);
	return r;
}

/* Adds a file or directory of the gate's over the path, named by its number. */
static void stand_in(struct plan *p, struct plan_op *op, const char *path)
{
	op->source = xasprintf("%s/%zu", &STAND_INS[1], p->n_stand_ins);
	p->stand_ins = xrealloc(p->stand_ins, (p->n_stand_ins + 1) * sizeof(*p->stand_ins));
	p->stand_ins[p->n_stand_ins++] = (struct plan_stand_in){.path = path, .dir = op->dir};
}

static bool may_stand_in(const struct plan *p, const struct stat *st)
{
	return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) && p->read == READ_FUSE &&
	       p->n_gated && p->n_gated < GATES_MAX;
}

static void blanks(struct plan *p, const struct spawn_spec *spec)
{
	bool shown = false;

	for (size_t i = 0; i < p->n_probes; i++) {
		struct plan_op *op;
		struct stat st;

		if (!p->probes[i].blank || p->probes[i].white || lstat(p->probes[i].path, &st) < 0)
			continue;
		if (may_stand_in(p, &st) && !shown) {
			plan_add(p, PLAN_DIR, STAND_INS, NULL);
			plan_add(p, PLAN_GATE, STAND_INS, NULL);
			shown = true;
		}
		op = plan_add(p, PLAN_BLANK, p->probes[i].path, NULL);
		op->dir = S_ISDIR(st.st_mode);
		/* A directory that begins empty lacks the name. The self-check looks. */
		op->optional = path_is_in(p->probes[i].path, spec->overlays);
		if (may_stand_in(p, &st))
			stand_in(p, op, p->probes[i].path);
	}
}

/* Adds the directories that the agent may make later: its Landlock domain is fixed at the start. */
static int tool_dirs(struct plan *p, const struct spawn_spec *spec, struct err *err)
{
	AUTO_FREE char *dir = NULL;

	p->absent = spec->absent_homes;
	p->home_points = spec->home_points;
	if (!p->absent || !p->absent->path)
		return 0;
	for (const struct absent_home *h = p->absent; h->path; h++)
		plan_push(&p->absent_dirs, &p->n_absent, &p->cap_absent, path_base(h->dir));
	dir = xstrndup(p->absent->dir, (size_t)(path_base(p->absent->dir) - p->absent->dir));
	p->homes = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->homes < 0 ? err_set(err, -errno, "open '%s'", dir) : 0;
}

int plan_make(struct plan *p, const struct spawn_spec *spec, struct err *err)
{
	int r;

	r = check_folders(spec, err);
	if (r < 0)
		return r;
	if (spec->dynamic && p->read == READ_NATIVE)
		return err_say(err, -EOPNOTSUPP,
			       "reads cannot be asked for here: run with --mode static, where all "
			       "but hidden paths is readable");
	r = tool_dirs(p, spec, err);
	if (r < 0)
		return r;
	r = plan_find_gates(p, spec, err);
	if (r < 0)
		return r;
	r = plan_find_hidden(p, spec, err);
	if (r < 0)
		return r;
	plan_socket_ways(p, spec);
	r = plan_cover(p, err);
	if (r < 0)
		return r;
	sys(p);
	plan_gates(p);
	plan_grants(p, spec);
	folders(p, spec->read_only, false);
	folders(p, spec->folders, false);
	plan_sockets(p, spec, false);
	plan_add(p, PLAN_SEAL, "/", NULL);
	private_tmpfs(p);
	devices(p, spec);
	proc(p, spec);
	run(p, spec);
	plan_sockets(p, spec, true);
	folders(p, spec->read_only, true);
	folders(p, spec->folders, true);
	r = overlays(p, spec, err);
	if (r < 0)
		return r;
	blanks(p, spec);
	if (p->read == READ_TRAP)
		plan_trees(p, spec);
	return 0;
}

void plan_done(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->ops[i].path);
		free(p->ops[i].source);
		free(p->ops[i].instead);
	}
	for (size_t i = 0; i < p->n_hidden; i++)
		free(p->hidden[i]);
	for (size_t i = 0; i < p->n_gated; i++)
		free(p->gated[i]);
	for (size_t i = 0; i < p->n_granted; i++)
		free(p->granted[i]);
	for (size_t i = 0; i < p->n_probes; i++)
		free(p->probes[i].path);
	for (size_t i = 0; i < p->n_sealed; i++)
		free(p->sealed[i]);
	for (size_t i = 0; i < p->n_writable; i++)
		free(p->writable[i]);
	for (size_t i = 0; i < p->n_absent; i++)
		free(p->absent_dirs[i]);
	free(p->absent_dirs);
	free(p->ops);
	free(p->stand_ins);
	free(p->gated);
	free(p->granted);
	free(p->hidden);
	free(p->probes);
	free(p->sealed);
	free(p->writable);
	if (p->homes > 0)
		util_close_fd(&p->homes);
	if (p->own)
		util_close_fd(&p->own_lock);
	free(p->own);
	trees_done(&p->trees);
	*p = (struct plan){0};
}
