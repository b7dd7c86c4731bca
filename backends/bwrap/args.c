/* args - translates the plan to bubblewrap's options. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "backends/bwrap/bwrap_priv.h"

/* bwrap accepts fewer than 9000, including those of its command line. */
#define ARGS_MAX 8990

struct args {
	struct buf *b;
	size_t n;
};

static void add(struct args *a, const char *word)
{
	buf_add(a->b, word, strlen(word) + 1);
	a->n++;
}

static void add_perms(struct args *a, mode_t mode)
{
	char text[16];

	snprintf(text, sizeof(text), "%04o", (unsigned)mode & 07777u);
	add(a, "--perms");
	add(a, text);
}

static void add_fd(struct args *a, const char *option, int fd)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", fd);
	add(a, option);
	add(a, text);
}

/* Returns the value of a tmpfs mount option, or NULL if it is not set. */
static const char *option_of(const char *options, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = options; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (strncmp(p, name, len) == 0 && p[len] == '=')
			return p + len + 1;
	}
	return NULL;
}

/* Converts a size to bytes, as bwrap needs: "50%" of the memory, or "1m". */
static uint64_t bytes_of(const char *size)
{
	struct sysinfo info;
	char *end;
	uint64_t n = strtoull(size, &end, 10);

	if (*end == '%' && sysinfo(&info) == 0)
		return (uint64_t)info.totalram * info.mem_unit / 100 * n;
	return *end == 'm' ? n << 20 : n;
}

static void add_tmpfs(struct args *a, const struct plan_op *op)
{
	const char *mode = option_of(op->source, "mode"), *size = option_of(op->source, "size");
	char text[32];

	add_perms(a, mode ? (mode_t)strtoul(mode, NULL, 8) : 0755);
	if (size) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes_of(size));
		add(a, "--size");
		add(a, text);
	}
	add(a, "--tmpfs");
	add(a, op->path);
}

static void add_bind(struct args *a, const char *option, const struct plan_op *op)
{
	struct stat st;

	/* bwrap's -try options allow a missing source, but fail on a dead mount. */
	if (op->optional && stat(op->source, &st) < 0)
		return;
	add(a, option);
	add(a, op->source);
	add(a, op->path);
}

bool args_tell(const struct plan_op *op)
{
	switch (op->what) {
	case PLAN_DIR:
	case PLAN_LINK:
	case PLAN_TMPFS:
	case PLAN_DEVICE:
	case PLAN_BIND_RW:
		return true;
	case PLAN_BIND:
	case PLAN_BIND_RO:
		return op->source != NULL; /* NULL: a bind within the new tree */
	case PLAN_PROC:
	case PLAN_SEAL:
	case PLAN_DEVPTS:
	case PLAN_OVERLAY:
	case PLAN_BLANK:
	case PLAN_MKDIRS:
	case PLAN_GATE:
		return false;
	}
	return false;
}

static void add_op(struct args *a, const struct plan_op *op)
{
	if (op->what == PLAN_PROC) { /* the holder needs it; finish.c sets its options */
		add(a, "--proc");
		add(a, op->path);
	}
	if (!args_tell(op))
		return;
	switch ((int)op->what) {
	case PLAN_DIR:
		add_perms(a, op->mode);
		add(a, "--dir");
		add(a, op->path);
		return;
	case PLAN_LINK:
		add(a, "--symlink");
		add(a, op->source);
		add(a, op->path);
		return;
	case PLAN_TMPFS:
		add_tmpfs(a, op);
		return;
	case PLAN_DEVICE:
		add_bind(a, op->optional ? "--dev-bind-try" : "--dev-bind", op);
		return;
	case PLAN_BIND_RW:
		add_bind(a, "--bind", op);
		return;
	default:
		add_bind(a, op->optional ? "--ro-bind-try" : "--ro-bind", op);
	}
}

int args_make(struct buf *b, const struct plan *plan, bool private_net, struct err *err)
{
	static const char *const always[] = {"--unshare-user",	 "--unshare-pid",
					     "--unshare-ipc",	 "--unshare-uts",
					     "--unshare-cgroup", "--as-pid-1",
					     "--cap-drop",	 "ALL",
					     "--chdir",		 "/"};
	struct args a = {.b = b};

	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		add(&a, always[i]);
	if (private_net)
		add(&a, "--unshare-net");
	add_fd(&a, "--info-fd", BWRAP_INFO);
	add_fd(&a, "--userns-block-fd", BWRAP_GO);
	for (size_t i = 0; i < plan->n; i++)
		add_op(&a, &plan->ops[i]);
	if (a.n < ARGS_MAX)
		return 0;
	return err_say(err, -E2BIG,
		       "bubblewrap: it takes %d arguments, this sandbox needs %zu: hide fewer "
		       "paths in large directories, or use --backend native",
		       ARGS_MAX, a.n);
}
