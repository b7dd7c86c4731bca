/* cache - `cordon cache`: lists and removes the files of tools' private homes, for each folder. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/session/start/homes.h"
#include "tui/commands/cache.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

#define DAY_S	  86400
#define DEPTH_MAX 64

struct options {
	bool clear, all, trim;
};

static const struct flag flags[] = {
	{"--clear", NULL, offsetof(struct options, clear),
	 "remove the files of this folder; not while a session runs in it"},
	{"--all", NULL, offsetof(struct options, all), "with --clear: the files of every folder"},
	{"--trim", NULL, offsetof(struct options, trim),
	 "remove the least recently used files until cache.size holds; cordon does this once a "
	 "day"},
};

static const struct usage usage = {
	"cache [--clear [--all] | --trim]",
	"List the files that tools inside have written to their homes (~/.cargo, ~/.cache): one "
	"line a folder, with the size.",
	flags,
	ARRAY_LEN(flags),
};

/* The cache of one folder. */
struct cache {
	char *label, *folder; /* folder: NULL if unknown */
	int64_t used_s;	      /* end of the last session */
	uint64_t bytes;	      /* on disk */
};

struct caches {
	char *dir; /* state_dir/homes */
	struct cache *list;
	size_t n;
};

static uint64_t size_of(int at, const char *name, int depth)
{
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;
	struct stat st;
	uint64_t sum;
	int fd;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	sum = (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
		return sum;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	while (d && (e = readdir(d)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			sum += size_of(dirfd(d), e->d_name, depth + 1);
	return sum;
}

static void caches_done(struct caches *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->list[i].label);
		free(c->list[i].folder);
	}
	free(c->list);
	free(c->dir);
}

static int by_use(const void *a, const void *b)
{
	const struct cache *x = a, *y = b;

	return (x->used_s < y->used_s) - (x->used_s > y->used_s);
}

/* Loads the caches, the most recently used first. */
static void load(struct caches *c, const char *state_dir)
{
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;
	struct stat st;
	size_t len;

	*c = (struct caches){.dir = path_join(state_dir, "homes")};
	d = opendir(c->dir);
	while (d && (e = readdir(d))) {
		AUTO_FREE char *file = path_join(e->d_name, "folder");
		struct cache one = {0};

		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) < 0)
			continue;
		one.label = xstrdup(e->d_name);
		one.used_s = st.st_mtime;
		one.bytes = size_of(dirfd(d), e->d_name, 0);
		if (io_read_file(dirfd(d), file, 4096, &one.folder, &len) < 0)
			one.folder = NULL;
		c->list = xrealloc(c->list, (c->n + 1) * sizeof(*c->list));
		c->list[c->n++] = one;
	}
	if (c->n)
		qsort(c->list, c->n, sizeof(*c->list), by_use);
}

/* Removes a cache. Returns -EBUSY if a session uses it. */
static int drop(const struct caches *c, const struct cache *one)
{
	AUTO_FREE char *dir = path_join(c->dir, one->label);
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return io_remove_tree(AT_FDCWD, dir);
}

static int clear(const struct caches *c, const char *label, struct err *err)
{
	uint64_t freed = 0;
	char size[32];

	for (size_t i = 0; i < c->n; i++) {
		const struct cache *one = &c->list[i];
		int r = label && !str_eq(label, one->label) ? 1 : drop(c, one);

		if (r == 0)
			freed += one->bytes;
		else if (r == -EBUSY)
			return err_say(err, r,
				       "clear the caches of %s: a session runs there: end it first",
				       one->folder ? one->folder : one->label);
		else if (r < 0)
			return err_set(err, r, "clear '%s/%s'", c->dir, one->label);
	}
	text_size(size, sizeof(size), freed);
	printf("%s freed\n", size);
	return 0;
}

/* Removes the least recently used caches, except those that sessions use. */
static void trim(const struct caches *c, uint64_t most)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += c->list[i].bytes;
	for (size_t i = c->n; i > 0 && sum > most; i--)
		if (drop(c, &c->list[i - 1]) == 0)
			sum -= c->list[i - 1].bytes;
}

static void list(const struct caches *c)
{
	uint64_t sum = 0;
	char size[32];

	for (size_t i = 0; i < c->n; i++) {
		const struct cache *one = &c->list[i];
		const char *name = one->folder ? one->folder : one->label;

		text_size(size, sizeof(size), one->bytes);
		printf("%8s  ", size);
		show_text(name, strlen(name));
		printf("\n");
		sum += one->bytes;
	}
	text_size(size, sizeof(size), sum);
	printf("%8s  in all, in %s\n", size, c->dir);
}

static int most(uint64_t *ret, const struct here *at, struct err *err)
{
	const struct config_spec spec = {.home = at->home,
					 .config_home = getenv("XDG_CONFIG_HOME"),
					 .state_dir = at->state_dir};
	struct config *c = NULL;
	int r = config_load(&c, &spec, err);

	if (r == 0)
		*ret = (uint64_t)config_int(c, "cache.size");
	config_free(c);
	return r;
}

static int cache(const struct here *at, const struct options *o, struct err *err)
{
	AUTO_FREE char *label = path_label(at->folder);
	uint64_t limit = 0;
	struct caches c;
	int r = o->trim ? most(&limit, at, err) : 0;

	if (r < 0)
		return r;
	load(&c, at->state_dir);
	if (o->clear)
		r = clear(&c, o->all ? NULL : label, err);
	else if (o->trim && limit)
		trim(&c, limit);
	else if (!o->trim)
		list(&c);
	caches_done(&c);
	return r;
}

int cmd_cache(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct options o = {0};
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	if (r == 0 && ((o.all && !o.clear) || (o.clear && o.trim)))
		r = err_say(err, -EINVAL, "cache: usage: cordon %s", usage.synopsis);
	if (r == 0)
		r = here_find(&p, err);
	if (r == 0)
		r = cache(&p, &o, err);
	return r < 0 ? CMD_FAILED : finish(0, err);
}

void cache_trim_daily(const char *state_dir, int64_t most_bytes)
{
	AUTO_FREE char *stamp = xasprintf("%s/homes/.trimmed", state_dir);
	AUTO_CLOSE int fd = -1;
	struct caches c;
	struct stat st;

	if (most_bytes <= 0 ||
	    (stat(stamp, &st) == 0 && clock_wall_us() / 1000000 - st.st_mtime < DAY_S))
		return;
	fd = open(stamp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	load(&c, state_dir);
	trim(&c, (uint64_t)most_bytes);
	caches_done(&c);
}
