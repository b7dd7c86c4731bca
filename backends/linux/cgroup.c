/* cgroup - process and memory limits for the whole tree, where a cgroup can be made. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backends/linux/limits.h"
#include "core/base/io.h"

#define PROC_FILE_MAX (1u << 20)

/* ---- where ----------------------------------------------------------------------------------- */

/* The path of this process in the hierarchy with this controller; "" means v2. Heap string. */
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

/* The mount point of that hierarchy and which of its directories is mounted there. */
static bool find_mount(const char *mountinfo, const char *controller, char **ret_point,
		       char **ret_root)
{
	for (const char *line = mountinfo; line && *line;) {
		const char *end = strchrnul(line, '\n');
		char root[512], point[512], type[32], options[512];
		AUTO_FREE char *copy = xstrndup(line, (size_t)(end - line));
		const char *dash = strstr(copy, " - ");

		line = *end ? end + 1 : end;
		if (!dash || sscanf(copy, "%*d %*d %*s %511s %511s", root, point) != 2 ||
		    sscanf(dash, " - %31s %*s %511s", type, options) != 2)
			continue;
		if (*controller) {
			AUTO_FREE char *list = xasprintf(",%s,", options);
			AUTO_FREE char *name = xasprintf(",%s,", controller);

			if (!str_eq(type, "cgroup") || !strstr(list, name))
				continue;
		} else if (!str_eq(type, "cgroup2")) {
			continue;
		}
		*ret_point = xstrdup(point);
		*ret_root = xstrdup(root);
		return true;
	}
	return false;
}

/* This process's directory in that hierarchy. Heap string or NULL. */
static char *own_dir(const char *controller, size_t *ret_point_len)
{
	AUTO_FREE char *cgroups = NULL, *mounts = NULL, *path = NULL, *point = NULL, *root = NULL;
	const char *below;

	if (io_read_file(AT_FDCWD, "/proc/self/cgroup", PROC_FILE_MAX, &cgroups, NULL) < 0 ||
	    io_read_file(AT_FDCWD, "/proc/self/mountinfo", PROC_FILE_MAX, &mounts, NULL) < 0)
		return NULL;
	path = own_path(cgroups, controller);
	if (!path || !find_mount(mounts, controller, &point, &root))
		return NULL;
	/* In a container the mount may show a part of the hierarchy only. */
	below = str_eq(root, "/") ? path : str_starts(path, root) ? path + strlen(root) : "";
	*ret_point_len = strlen(point);
	return xasprintf("%s%s", point, str_eq(below, "/") ? "" : below);
}

/* ---- making ---------------------------------------------------------------------------------- */

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

static bool make_dir(struct cgroup *g, const char *parent, const char *session)
{
	char *dir = g->dirs[g->n];
	int n = snprintf(dir, sizeof(g->dirs[0]), "%s/cordon-%s", parent, session);

	if (n < 0 || (size_t)n >= sizeof(g->dirs[0]) || mkdir(dir, 0755) < 0)
		return false;
	g->n++;
	return true;
}

static bool may_enter(const char *dir)
{
	AUTO_FREE char *path = xasprintf("%s/cgroup.procs", dir);

	return access(path, W_OK) == 0;
}

/*
 * v2: processes live in leaves only, so the new group becomes a sibling of an ancestor of ours,
 * under a parent that hands the controllers down and whose cgroup.procs we may write.
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

	/* pid 1 is one of them. */
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

void cgroup_remove(const struct cgroup *g)
{
	struct timespec ms = {.tv_nsec = 1000000};

	for (size_t i = 0; i < g->n; i++) {
		/* The last process may be on its way out still. */
		for (int tries = 0; rmdir(g->dirs[i]) < 0 && errno == EBUSY && tries < 500; tries++)
			nanosleep(&ms, NULL);
	}
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
	/* An ordinary user has one where systemd has delegated it, which is v2 at its usual place.
	 */
	if (io_read_file(AT_FDCWD, "/proc/self/cgroup", PROC_FILE_MAX, &text, NULL) < 0)
		return false;
	path = own_path(text, "");
	if (!path || !strrchr(path, '/'))
		return false;
	*strrchr(path, '/') = '\0';
	dir = xasprintf("/sys/fs/cgroup%s", path);
	return may_enter(dir);
}

/* ---- the guard ------------------------------------------------------------------------------- */

struct process {
	pid_t pid, parent;
};

static size_t list_processes(struct process *list, size_t max)
{
	AUTO_DIR DIR *d = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	while (d && n < max && (e = readdir(d))) {
		char path[300], text[512], *paren;
		AUTO_CLOSE int fd = -1;
		ssize_t got;
		int parent;

		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (got <= 0)
			continue;
		text[got] = '\0';
		paren = strrchr(text, ')');
		if (!paren || sscanf(paren, ") %*c %d", &parent) != 1)
			continue;
		list[n++] = (struct process){.pid = atoi(e->d_name), .parent = parent};
	}
	return n;
}

static void swap(struct process *a, struct process *b)
{
	struct process p = *a;

	*a = *b;
	*b = p;
}

/* Move the two roots and their descendants to the front; returns how many they are. */
static size_t take_tree(struct process *list, size_t n, const pid_t roots[2])
{
	size_t taken = 0;
	bool grew = true;

	for (size_t i = 0; i < n; i++) {
		if (list[i].pid == roots[0] || list[i].pid == roots[1])
			swap(&list[taken++], &list[i]);
	}
	while (taken && grew) {
		grew = false;
		for (size_t i = taken; i < n; i++) {
			size_t j = 0;

			while (j < taken && list[i].parent != list[j].pid)
				j++;
			if (j == taken)
				continue;
			swap(&list[taken++], &list[i]);
			grew = true;
		}
	}
	return taken;
}

static bool is_member(const struct cgroup *g, pid_t pid)
{
	AUTO_FREE char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	/* Gone by now: nothing to move. */
	if (io_read_file(AT_FDCWD, path, PROC_FILE_MAX, &text, NULL) < 0)
		return true;
	for (size_t i = 0; i < g->n; i++) {
		if (!strstr(text, strrchr(g->dirs[i], '/')))
			return false;
	}
	return true;
}

/* Everything that runs by now into the group; what they fork is born in it. */
static bool place_tree(const struct cgroup *g, const pid_t roots[2])
{
	enum {
		MAX_PROCESSES = 32768,
		MAX_PASSES = 16
	};
	AUTO_FREE struct process *list = xmalloc(MAX_PROCESSES * sizeof(*list));
	int fds[2] = {-1, -1};
	bool done = false;

	for (size_t i = 0; i < g->n; i++)
		fds[i] = cgroup_open(g, i);
	for (int pass = 0; pass < MAX_PASSES && !done; pass++) {
		size_t n = take_tree(list, list_processes(list, MAX_PROCESSES), roots);

		done = true;
		for (size_t i = 0; i < n; i++) {
			if (is_member(g, list[i].pid))
				continue;
			done = false;
			for (size_t j = 0; j < g->n; j++)
				dprintf(fds[j], "%d", (int)list[i].pid);
		}
	}
	for (size_t i = 0; i < g->n; i++)
		util_close_fd(&fds[i]);
	return done;
}

static bool sandbox_ended(int pidfd, int timeout)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	while (poll(&p, 1, timeout) < 0) {
		if (errno != EINTR)
			return true;
	}
	return p.revents != 0;
}

static NORETURN void guard_run(const struct guard *guard)
{
	struct cgroup g = {0};
	struct err err = {0};
	pid_t roots[2] = {guard->first, 0};

	prctl(PR_SET_NAME, "cordon-limits");
	setsid();
	/* Only what it needs: somebody may wait for the end of a pipe that we would hold open. */
	if (dup2(guard->pidfd, 0) < 0 || dup2(guard->pipe, 1) < 0)
		_exit(1);
	close_range(2, ~0u, 0);
	if (guard->made) {
		g = *guard->made;
	} else {
		if (io_read_full(1, &roots[1], sizeof(roots[1])) != (ssize_t)sizeof(roots[1]))
			_exit(0);
		/* Most commands are over by then and never pay for it. */
		if (sandbox_ended(0, 20))
			_exit(0);
		if (cgroup_make(&g, guard->session, guard->limits, &err) < 0)
			_exit(0);
		/* Something forks faster than it can be placed: what limits are for. */
		if (!place_tree(&g, roots))
			syscall(SYS_pidfd_send_signal, 0, SIGKILL, NULL, 0);
	}
	sandbox_ended(0, -1);
	cgroup_remove(&g);
	_exit(0);
}

pid_t cgroup_guard(const struct guard *g, struct err *err)
{
	pid_t pid = fork();

	if (pid == 0)
		guard_run(g);
	return pid < 0 ? err_set(err, -errno, "fork the guard of the limits") : pid;
}
