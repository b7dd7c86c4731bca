/* plan_index - checks whether a git index was edited between the steps or only refreshed by git. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/content.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/store/store.h"

/* Returns after_image_index_hash() of the path's before-state, or 0 if it is no index or is
 * unknown. */
static uint64_t found_hash(struct planner *p, int64_t id, const struct change *c)
{
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	struct err ignored = {0};
	struct stat st;

	if (!c->before.exists || content_origin_find(p->j, id, c, false, &o, &ignored) < 0 ||
	    o.fd < 0 || fstat(o.fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return after_image_index_hash(o.fd, (size_t)st.st_size);
}

/* What it left there. */
static uint64_t left_hash(struct planner *p, const char *dir, const char *key)
{
	AUTO_IMAGE_READER struct after_image_reader reader = {0};
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	struct after_image post;

	if (fd < 0 || after_image_begin(&reader, fd, "post") < 0)
		return 0;
	while (after_image_next(&reader, &post) > 0)
		if (str_eq(post.key, key))
			return post.hash;
	return 0;
}

static const struct change *change_at(const struct planner *p, const struct change *list, size_t n,
				      const struct after_image *post)
{
	for (size_t i = 0; i < n; i++)
		if ((!list[i].in || list[i].in == p->j) && list[i].root == post->root &&
		    str_eq(list[i].path, post->path))
			return &list[i];
	return NULL;
}

bool plan_index_holds(struct planner *p, const struct after_image *post)
{
	const char *name = strrchr(post->path, '/');
	uint64_t found = 0;
	bool newer = false;

	if (!name || !str_eq(name, "/index"))
		return false;
	for (size_t i = 0; i < p->dirs->n; i++) { /* newest first */
		int64_t id = atoll(strchr(p->dirs->dirs[i], '/') + 1);
		const struct change *c;
		struct change *list = NULL;
		size_t n = 0;
		bool same = true;

		if (journal_changes(p->j, id, &list, &n, NULL) < 0)
			return false;
		c = change_at(p, list, n, post);
		if (c && newer)
			same = found && found == left_hash(p, p->dirs->dirs[i], post->key);
		if (c)
			found = found_hash(p, id, c);
		newer |= c != NULL;
		change_free(list, n);
		if (!same)
			return false;
	}
	return newer;
}
