/* usage - counts the bytes that a store and its steps hold. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/store/aside.h"
#include "core/journal/store/store.h"

/*
 * The size of a store is the space that only the store holds. A moved inode counts with its blocks,
 * divided by its hard links (one in the folder belongs to the folder). A copy counts with its
 * blocks. A clone shares its blocks with the folder's file and costs nothing when it is made; once
 * the step has ended, the extents that no other file shares count. Extents that two clones share
 * with each other count for neither: a size that is too high would cost the user a step. Logs and
 * images count with their blocks.
 *
 * The file "held" of a kept step has the size in its first line, and below it the slots whose
 * copies can be compressed (background.c). It is a cache: without it, the step is measured.
 */

#define HELD_MAX ((size_t)64 << 20)

uint64_t store_weigh_object(const struct object *o)
{
	return o->blocks * 512 / MAX(o->nlink, 1u);
}

uint64_t store_weigh(int dirfd, const char *name)
{
	struct object o;

	return object_stat(dirfd, name, &o) < 0 ? 0 : store_weigh_object(&o);
}

uint64_t usage_held_files(int stepdir)
{
	static const char *const names[] = {"undo", "redo", "summary", "post", "left"};
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		sum += store_weigh(stepdir, names[i]);
	return sum;
}

/* Returns the bytes of all that is below the directory. */
static uint64_t weigh_dir(int parent, const char *name, int depth)
{
	AUTO_CLOSE int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	uint64_t sum = 0;

	if (!dir)
		return 0;
	fd = -1;
	while ((e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		sum += store_weigh(dirfd(dir), e->d_name);
		if (depth < 64 && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN))
			sum += weigh_dir(dirfd(dir), e->d_name, depth + 1);
	}
	return sum;
}

int usage_held_write(int stepdir, const struct held *h)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_fmt(&b, "%" PRIu64 " %s\n", h->bytes, h->packed ? "packed" : "plain");
	for (size_t i = 0; i < h->n; i++)
		buf_fmt(&b, "%" PRIx64 "\n", h->slots[i]);
	return io_write_file(stepdir, "held", 0600, b.data, b.len, false);
}

int usage_held_read(int stepdir, struct held *h)
{
	AUTO_FREE char *text = NULL;
	char *line, *save = NULL, word[8] = "";
	size_t len;
	int r = io_read_file(stepdir, "held", HELD_MAX, &text, &len);

	*h = (struct held){0};
	if (r < 0)
		return r;
	if (!len || text[len - 1] != '\n' || sscanf(text, "%" SCNu64 " %7s", &h->bytes, word) != 2)
		return -EBADMSG;
	h->packed = str_eq(word, "packed");
	strtok_r(text, "\n", &save);
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (h->n % 64 == 0)
			h->slots = xrealloc(h->slots, (h->n + 64) * sizeof(*h->slots));
		h->slots[h->n++] = strtoull(line, NULL, 16);
	}
	return 0;
}

uint64_t store_held(const struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct held h = {0};
	int r = fd < 0 ? 0 : usage_held_read(fd, &h);

	free(take_ptr(&h.slots));
	if (fd < 0 || r == 0)
		return h.bytes;
	h = (struct held){.bytes = usage_held_files(fd) + weigh_dir(fd, "obj", 0), .packed = true};
	if (!j->read_only && usage_held_write(fd, &h) < 0)
		return h.bytes; /* the next call measures again */
	return h.bytes;
}

static uint64_t files_of(const struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);

	return fd < 0 ? 0 : usage_held_files(fd);
}

uint64_t store_holds_below(const struct journal *j, const char *where,
			   uint64_t (*of)(const struct journal *j, const char *name))
{
	AUTO_NAMES struct names names = {0};
	uint64_t sum = 0;

	if (store_names(j, where, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *name = xasprintf("%s/%s", where, names.list[i]);

		sum += of(j, name);
	}
	return sum;
}

static uint64_t size_of(const struct journal *j, const char *name)
{
	return store_weigh(j->store, name);
}

uint64_t store_holds_beside_steps(const struct journal *j)
{
	return store_holds_below(j, "redo", store_held) + store_holds_below(j, "posts", size_of) +
	       store_holds_below(j, BESIDE_DIR, files_of);
}

uint64_t store_holds(const struct journal *j)
{
	return store_holds_below(j, "steps", store_held) + store_holds_beside_steps(j);
}

uint64_t journal_store_bytes(const char *store)
{
	AUTO_CLOSE int fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	const struct journal at = {.store = fd, .read_only = true};

	return fd < 0 ? 0 : store_holds(&at) + weigh_dir(fd, ASIDE_DIR, 0);
}
