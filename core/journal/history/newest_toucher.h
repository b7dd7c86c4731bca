/* newest_toucher - which of several steps has a path, and whose images lie in directories that
 * moved. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/rename_list.h"
#include "core/journal/util/path_set.h"

struct journal;
struct step;

/* The newest of several steps that has a path, or a file, by their places in a list, newest first.
 */
struct hands {
	struct names names;
	size_t *ends;	       /* how many names there are up to each place */
	struct writing *files; /* hash, by inode: who wrote to each in place */
};
void hands_note(struct hands *h, size_t place, const struct names *names); /* place by place */
void hands_wrote(struct hands *h, size_t place, uint64_t ino);		   /* the same */
/* Of `names`, of the step at that place: what a newer one has as well, perhaps by a directory. */
void hands_find(const struct hands *h, size_t place, const struct moves *moves,
		const struct names *names, struct names *ret);
/* Has a newer one than that at the place written to the file? */
bool hands_have_file(const struct hands *h, size_t place, uint64_t ino);
void hands_done(struct hands *h);

/* Paths of other steps' images that lie in directories which moved: under both names. */
int post_moved(struct journal *j, const struct moves *m, struct names *add) MUST_USE;
/* What an open step did where others have moved it on: by the names of now. (renamed_by_others.c)
 */
int post_moved_on(const struct step *s, struct names *ret) MUST_USE;
