/* p9_fid - what a 9P client's numbers stand for. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/p9_priv.h"

struct p9_fid *p9_fid_get(const struct p9_session *s, uint32_t number)
{
	struct p9_fid *f;

	HASH_FIND(hh, s->fids, &number, sizeof(number), f);
	return f;
}

struct p9_fid *p9_fid_new(struct p9_session *s, uint32_t number, struct fs_node *node, uint32_t uid)
{
	struct p9_fid *f;

	if (number == P9_NO_FID || s->n_fids >= P9_FIDS || p9_fid_get(s, number))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->number = number;
	f->uid = uid;
	f->serial = ++s->last_serial;
	f->node = node;
	f->fd = -1;
	f->value = (struct buf)BUF_INIT;
	fs_node_pin(node);
	HASH_ADD(hh, s->fids, number, sizeof(f->number), f);
	s->n_fids++;
	return f;
}

void p9_fid_move(struct p9_session *s, struct p9_fid *f, struct fs_node *node)
{
	fs_node_pin(node);
	fs_node_unpin(&s->tree->nodes, f->node);
	f->node = node;
}

bool p9_fid_set_value(struct p9_session *s, struct p9_fid *f, enum p9_use use)
{
	if (s->n_values >= P9_VALUES)
		return false;
	s->n_values++;
	f->use = use;
	return true;
}

void p9_fid_free(struct p9_session *s, struct p9_fid *f)
{
	HASH_DEL(s->fids, f);
	s->n_fids--;
	if (f->use == P9_XATTR || f->use == P9_XATTR_WRITE)
		s->n_values--;
	util_close_fd(&f->fd);
	if (f->unnamed)
		fs_closed_unnamed(s->tree, f->node);
	fs_node_unpin(&s->tree->nodes, f->node);
	buf_done(&f->value);
	free(f);
}

void p9_fids_done(struct p9_session *s)
{
	struct p9_fid *f, *next;

	HASH_ITER (hh, s->fids, f, next)
		p9_fid_free(s, f);
}
