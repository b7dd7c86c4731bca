/* plan_index - was a git index edited between the steps, or only refreshed by git? */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/journal/history/content.h"
#include "core/journal/rollback/plan_priv.h"

/* What the step found at the path, as post_content_hash(). 0: nothing, or it is not known. */
static uint64_t found_hash(struct planner *p, int64_t id, const struct change *c)
{
	AUTO_ORIGIN struct origin o = ORIGIN_NONE;
	struct err ignored = {0};
	struct stat st;

	if (!c->before.exists || origin_find(p->j, id, c, false, &o, &ignored) < 0 || o.fd < 0 ||
	    fstat(o.fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return post_index_hash(o.fd, (size_t)st.st_size);
}

/* What it left there. */
static uint64_t left_hash(struct planner *p, const char *dir, const char *key)
{
	AUTO_POST_READER struct post_reader reader = {0};
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	struct post post;

	if (fd < 0 || post_begin(&reader, fd, "post") < 0)
		return 0;
	while (post_next(&reader, &post) > 0)
		if (str_eq(post.key, key))
			return post.hash;
	return 0;
}

static const struct change *change_at(const struct planner *p, const struct change *list, size_t n,
				      const struct post *post)
{
	for (size_t i = 0; i < n; i++)
		if ((!list[i].in || list[i].in == p->j) && list[i].root == post->root &&
		    str_eq(list[i].path, post->path))
			return &list[i];
	return NULL;
}

bool plan_index_holds(struct planner *p, const struct post *post)
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
