/* newest_toucher - finds the newest of several steps that touched a path; lists after-image paths
 * below renamed directories. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/rename_list.h"
#include "core/journal/util/path_set.h"

struct journal;
struct step;

/* Steps are numbered by their place in a list, newest first. */
struct touchers {
	struct names names;
	size_t *ends;	       /* how many names there are up to each place */
	struct writing *files; /* hash, by inode: who wrote to each in place */
};
void touchers_note(struct touchers *h, size_t place,
		   const struct names *names);			     /* place by place */
void touchers_wrote(struct touchers *h, size_t place, uint64_t ino); /* the same */
/* ret: those of `names`, of the step at that place, that a newer step touched, too, itself or by a
 * directory above. */
void touchers_find(const struct touchers *h, size_t place, const struct moves *moves,
		   const struct names *names, struct names *ret);
/* Did a step newer than the one at that place write to the file? */
bool touchers_have_file(const struct touchers *h, size_t place, uint64_t ino);
void touchers_done(struct touchers *h);

/* Adds the paths of other steps' after-images below renamed directories, under both names. */
int post_moved(struct journal *j, const struct moves *m, struct names *add) MUST_USE;
/* Current names of the paths of an open step that concurrent steps renamed. (renamed_by_others.c)
 */
int post_moved_on(const struct step *s, struct names *ret) MUST_USE;
