/* cgroup - process and memory limits of the whole tree, if a cgroup can be made. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backends/linux/limits/limits.h"
#include "core/base/io.h"
#include "core/base/mountinfo.h"

#define PREFIX	      "cordon-"
#define PROC_FILE_MAX (1u << 20)

/* ---- the hierarchy --------------------------------------------------------------------------- */

/* Returns this process's path in the hierarchy of this controller; "" means v2. Heap string. */
static char *own_path(const char *text, const char *controller)
{
	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n'), *list, *path;

		list = memchr(line, ':', (size_t)(end - line));
		path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
		if (path) {
			size_t len = (size_t)(path - list - 1), want = strlen(controller);
			AUTO_FREE char *names = xasprintf(",%.*s,", (int)len, list + 1);
			AUTO_FREE char *name = xasprintf(",%s,", controller);

			if (want ? strstr(names, name) != NULL : len == 0)
				return xstrndup(path + 1, (size_t)(end - path - 1));
		}
		line = *end ? end + 1 : end;
	}
	return NULL;
}

/* Returns whether the mount is the hierarchy of that controller; "" means v2. */
static bool is_hierarchy(const struct mount_line *m, const char *controller)
{
	AUTO_FREE char *list = xasprintf(",%s,", m->options);
	AUTO_FREE char *name = xasprintf(",%s,", controller);

	if (!*controller)
		return str_eq(m->type, "cgroup2");
	return str_eq(m->type, "cgroup") && strstr(list, name);
}

/* Finds the mount of that hierarchy. *ret points into the text. */
static bool find_mount(char *text, const char *controller, struct mount_line *ret)
{
	while (mountinfo_next(&text, ret))
		if (is_hierarchy(ret, controller))
			return true;
	return false;
}

/* Returns this process's directory in that hierarchy. Heap string or NULL. */
static char *own_dir(const char *controller, size_t *ret_point_len)
{
	AUTO_FREE char *cgroups = NULL, *mounts = mountinfo_read(), *path = NULL;
	struct mount_line m;
	const char *below;

	if (io_read_file(AT_FDCWD, "/proc/self/cgroup", PROC_FILE_MAX, &cgroups, NULL) < 0)
		return NULL;
	path = own_path(cgroups, controller);
	if (!path || !find_mount(mounts, controller, &m))
		return NULL;
	/* A container's mount may show only a part of the hierarchy. */
	below = str_eq(m.root, "/") ? path : str_starts(path, m.root) ? path + strlen(m.root) : "";
	*ret_point_len = strlen(m.point);
	return xasprintf("%s%s", m.point, str_eq(below, "/") ? "" : below);
}

/* ---- making cgroups -------------------------------------------------------------------------- */

static bool write_value(const char *dir, const char *file, int64_t value)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, file);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && dprintf(fd, "%lld", (long long)value) > 0;
}

static bool has_word(const char *dir, const char *file, const char *word)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, file);
	AUTO_FREE char *text = NULL, *list = NULL, *name = xasprintf(" %s ", word);

	if (io_read_file(AT_FDCWD, path, 4096, &text, NULL) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	list = xasprintf(" %s ", text);
	return strstr(list, name) != NULL;
}

/* Locks a directory. The lock lasts until all processes that have its descriptor end; until then no
 * session removes the directory. */
static int lock_dir(int parent, const char *dir, int how)
{
	AUTO_CLOSE int fd = openat(parent, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && flock(fd, how | LOCK_NB) == 0 ? take_fd(&fd) : -1;
}

static void sweep(const char *parent)
{
	AUTO_DIR DIR *dir = opendir(parent);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		AUTO_CLOSE int lock = -1;

		if (!str_starts(e->d_name, PREFIX))
			continue;
		lock = lock_dir(dirfd(dir), e->d_name, LOCK_EX);
		if (lock >= 0)
			unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR); /* EBUSY: in use */
	}
}

static bool make_dir(struct cgroup *g, const char *parent, const char *session)
{
	char *dir = g->dirs[g->n];
	int n = snprintf(dir, sizeof(g->dirs[0]), "%s/" PREFIX "%s", parent, session);

	if (n < 0 || (size_t)n >= sizeof(g->dirs[0]))
		return false;
	sweep(parent);
	/* Another session may sweep before the lock is taken, and remove the directory: retry. */
	for (int tries = 0; tries < 10; tries++) {
		if (mkdir(dir, 0755) < 0 && (errno != EEXIST || tries == 0))
			return false;
		g->locks[g->n] = lock_dir(AT_FDCWD, dir, LOCK_SH);
		if (g->locks[g->n] >= 0 && access(dir, F_OK) == 0) {
			g->n++;
			return true;
		}
		util_close_fd(&g->locks[g->n]);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return false;
}

static bool may_enter(const char *dir)
{
	AUTO_FREE char *path = xasprintf("%s/cgroup.procs", dir);

	return access(path, W_OK) == 0;
}

/*
 * v2: only leaves have processes. So the new group is a sibling of an ancestor of this process's
 * group, below a parent that delegates the controllers and whose cgroup.procs is writable.
 */
static void make_v2(struct cgroup *g, const char *session, const struct spawn_limits *limits)
{
	size_t point;
	AUTO_FREE char *dir = own_dir("", &point);

	while (dir) {
		char *slash;

		if (has_word(dir, "cgroup.subtree_control", "pids") && may_enter(dir) &&
		    make_dir(g, dir, session))
			break;
		slash = strrchr(dir, '/');
		if (strlen(dir) <= point || !slash)
			return;
		*slash = '\0';
	}
	if (!dir)
		return;
	if (limits->processes > 0 && write_value(g->dirs[0], "pids.max", limits->processes + 1))
		g->what |= CGROUP_PIDS;
	if (limits->memory > 0 && write_value(g->dirs[0], "memory.max", limits->memory)) {
		write_value(g->dirs[0], "memory.swap.max", 0);
		g->what |= CGROUP_MEMORY;
	}
}

static void make_v1(struct cgroup *g, const char *session, const struct spawn_limits *limits)
{
	size_t point;
	AUTO_FREE char *pids = limits->processes > 0 ? own_dir("pids", &point) : NULL;
	AUTO_FREE char *memory = limits->memory > 0 ? own_dir("memory", &point) : NULL;

	/* pid 1 counts as a process. */
	if (pids && make_dir(g, pids, session) &&
	    write_value(g->dirs[g->n - 1], "pids.max", limits->processes + 1))
		g->what |= CGROUP_PIDS;
	if (memory && make_dir(g, memory, session) &&
	    write_value(g->dirs[g->n - 1], "memory.limit_in_bytes", limits->memory))
		g->what |= CGROUP_MEMORY;
}

int cgroup_make(struct cgroup *g, const char *session, const struct spawn_limits *limits,
		struct err *err)
{
	*g = (struct cgroup){0};
	make_v2(g, session, limits);
	if (!g->what) {
		cgroup_remove(g);
		*g = (struct cgroup){0};
		make_v1(g, session, limits);
	}
	if (g->what)
		return 0;
	cgroup_remove(g);
	*g = (struct cgroup){0};
	return err_say(err, -EOPNOTSUPP, "no cgroup can be made here");
}

int cgroup_open(const struct cgroup *g, size_t i)
{
	AUTO_FREE char *path = xasprintf("%s/cgroup.procs", g->dirs[i]);

	return open(path, O_WRONLY | O_CLOEXEC);
}

void cgroup_leave(struct cgroup *g)
{
	for (size_t i = 0; i < g->n; i++)
		util_close_fd(&g->locks[i]);
}

void cgroup_remove(struct cgroup *g)
{
	struct timespec ms = {.tv_nsec = 1000000};

	for (size_t i = 0; i < g->n; i++) {
		/* The last process may still be ending. */
		for (int tries = 0; rmdir(g->dirs[i]) < 0 && errno == EBUSY && tries < 500; tries++)
			nanosleep(&ms, NULL);
	}
	cgroup_leave(g);
}

bool cgroup_may_wait(const struct spawn_limits *limits)
{
	return (limits->processes == 0 || limits->processes >= 4096) &&
	       (limits->memory == 0 || limits->memory >= (int64_t)1 << 30);
}

bool cgroup_may_exist(void)
{
	AUTO_FREE char *text = NULL, *path = NULL, *dir = NULL;

	if (geteuid() == 0)
		return true;
	/* An ordinary user has a cgroup if systemd has delegated it: v2, at its usual path. */
	if (io_read_file(AT_FDCWD, "/proc/self/cgroup", PROC_FILE_MAX, &text, NULL) < 0)
		return false;
	path = own_path(text, "");
	if (!path || !strrchr(path, '/'))
		return false;
	*strrchr(path, '/') = '\0';
	dir = xasprintf("/sys/fs/cgroup%s", path);
	return may_enter(dir);
}
