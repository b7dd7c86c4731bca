/* inode_set - a bounded set of inodes; once full it contains every inode. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/inode_set.h"

#include "core/base/hash.h"
#include "core/base/util.h"

struct inode_entry {
	struct inode_id id;
	UT_hash_handle hh;
};

bool inode_set_has(const struct inode_set *s, const struct inode_id *id)
{
	struct inode_entry *e = NULL;

	if (!s->all && s->entries)
		HASH_FIND(hh, s->entries, id, sizeof(*id), e);
	return s->all || e;
}

bool inode_set_add(struct inode_set *s, const struct inode_id *id)
{
	struct inode_entry *e;

	if (inode_set_has(s, id))
		return false;
	if (HASH_COUNT(s->entries) >= INODE_SET_MAX) {
		inode_set_done(s);
		s->all = true;
		return true;
	}
	e = xcalloc(1, sizeof(*e));
	e->id = *id;
	HASH_ADD(hh, s->entries, id, sizeof(e->id), e);
	return true;
}

void inode_set_done(struct inode_set *s)
{
	struct inode_entry *e, *next;

	HASH_ITER (hh, s->entries, e, next) {
		HASH_DEL(s->entries, e);
		free(e);
	}
}
