/* watch_edits - collects external edits that belong together, reports and records them. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/watch_edits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/keeper/channel.h"
#include "core/keeper/state.h"
#include "core/os/beneath.h"

#define SEEN_MAX 10000 /* collected paths; further ones are only counted */
#define TOLD_MAX 20    /* reported to cordon one by one */

struct edit { /* a path that was edited externally */
	char *path;
	bool made; /* it did not exist before */
	UT_hash_handle hh;
};

void edits_note(struct edits *in, const char *path, bool made)
{
	struct edit *e;

	HASH_FIND_STR(in->list, path, e);
	if (e)
		return;
	if (HASH_COUNT(in->list) >= SEEN_MAX) {
		in->more++;
		return;
	}
	e = xcalloc(1, sizeof(*e));
	e->path = xstrdup(path);
	e->made = made;
	HASH_ADD_KEYPTR(hh, in->list, e->path, strlen(e->path), e);
}

void edits_clear(struct edits *in)
{
	struct edit *e, *next;

	HASH_ITER (hh, in->list, e, next) {
		HASH_DEL(in->list, e);
		free(e->path);
		free(e);
	}
	in->more = 0;
}

static void tell(struct keeper *k, const struct folder *f, const char *path, size_t more)
{
	AUTO_FREE char *whole = path_join(f->path, path);
	size_t mark = wire_begin(&k->out, WIRE_EXTERNAL);

	wire_u64(&k->out, more);
	wire_cstr(&k->out, whole);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

static bool is_there(const struct folder *f, const char *path)
{
	AUTO_CLOSE int fd =
		os_open_beneath(f->fd, path, O_PATH | O_ITSELF | O_CLOEXEC,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	return fd >= 0 || errno != ENOENT;
}

/* Drops files that were created and removed within a moment: temporary files of a program. */
static void drop_passing(struct edits *in)
{
	struct edit *e, *next;

	HASH_ITER (hh, in->list, e, next) {
		if (!e->made || is_there(in->folder, e->path))
			continue;
		HASH_DEL(in->list, e);
		free(e->path);
		free(e);
	}
}

void edits_settle(struct keeper *k, struct edits *in)
{
	size_t n = 0, count;
	const char **paths;
	struct err err = {0};

	drop_passing(in);
	count = HASH_COUNT(in->list);
	if (!count)
		return;
	paths = xcalloc(count, sizeof(*paths));
	for (struct edit *e = in->list; e; e = e->hh.next)
		paths[n++] = e->path;
	keeper_umask(k, 077);
	if (journal_add_barrier(in->folder->journal, paths, n, &err) < 0)
		log_warn("keeper", "%s", err.text);
	for (size_t i = 0; i < MIN(n, (size_t)TOLD_MAX); i++)
		tell(k, in->folder, paths[i], i == TOLD_MAX - 1 ? n - TOLD_MAX + in->more : 0);
	free(paths);
	edits_clear(in);
}
