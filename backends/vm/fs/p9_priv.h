/* p9_priv - the state of a 9P session, and a message at hand. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/p9.h"
#include "backends/vm/fs/p9_wire.h"

enum p9_type {	       /* of requests; an answer's is one more */
	P9_LERROR = 6, /* Rlerror is 7 */
	P9_STATFS = 8,
	P9_LOPEN = 12,
	P9_LCREATE = 14,
	P9_SYMLINK = 16,
	P9_MKNOD = 18,
	P9_RENAME = 20,
	P9_READLINK = 22,
	P9_GETATTR = 24,
	P9_SETATTR = 26,
	P9_XATTRWALK = 30,
	P9_XATTRCREATE = 32,
	P9_READDIR = 40,
	P9_FSYNC = 50,
	P9_LOCK = 52,
	P9_GETLOCK = 54,
	P9_LINK = 70,
	P9_MKDIR = 72,
	P9_RENAMEAT = 74,
	P9_UNLINKAT = 76,
	P9_VERSION = 100,
	P9_AUTH = 102,
	P9_ATTACH = 104,
	P9_FLUSH = 108,
	P9_WALK = 110,
	P9_READ = 116,
	P9_WRITE = 118,
	P9_CLUNK = 120,
	P9_REMOVE = 122,
};

#define P9_NO_FID   UINT32_MAX
#define P9_NO_TAG   UINT16_MAX
#define P9_FIDS	    8192
#define P9_WALK_MAX 16
#define P9_WAITS    512 /* requests that the keeper may have at once */
#define P9_VALUES   64	/* fids that are an attribute's value */

enum p9_use {
	P9_NAME, /* walked to */
	P9_FILE,
	P9_DIR,
	P9_XATTR,	/* its value, read */
	P9_XATTR_WRITE, /* its value, to be set when the fid is clunked */
};

struct p9_fid {
	uint32_t number, uid;
	uint64_t serial;      /* no other fid of the session has it */
	struct fs_node *node; /* pinned */
	enum p9_use use;
	int fd;
	bool writes, unnamed; /* see struct fs_handle */
	/* Of an extended attribute. */
	struct buf value;
	char name[NAME_MAX + 1];
	uint32_t flags;
	uint64_t size;
	UT_hash_handle hh;
};

/* A request that the keeper has. */
struct p9_wait {
	struct p9_wait *prev, *next;
	struct p9_session *s;
	uint64_t ask, serial;
	uint16_t tag;
	uint8_t type;
	uint32_t fid, flags;
	struct fs_node *node; /* pinned */
	char *from, *to;      /* of a rename, relative to the root; NULL */
	char name[NAME_MAX + 1];
};

struct p9_session {
	struct fs_tree *tree;
	p9_send send;
	void *data;
	uint32_t msize;
	bool ready; /* Tversion came */
	uint64_t last_serial;
	struct p9_fid *fids;
	size_t n_fids, n_values, n_waits;
	struct p9_wait *waits;
	struct buf out;
};

/* A message during p9_serve(). */
struct p9_req {
	struct p9_session *s;
	struct fs_tree *tree;
	uint8_t type;
	uint16_t tag;
	struct p9_in in;
};

/* ---- p9.c: answers; one for each request ---- */
struct buf *p9_begin(struct p9_session *s, uint8_t type, uint16_t tag); /* a request's type */
void p9_end(struct p9_session *s);
void p9_error(struct p9_session *s, uint16_t tag, int error); /* negative */
void p9_reply_err(struct p9_req *r, int error);		      /* 0: an empty answer */
void p9_put_qid(struct fs_tree *t, struct buf *out, const struct stat *st);

/* ---- p9_fid.c ---- */
struct p9_fid *p9_fid_get(const struct p9_session *s, uint32_t number);
/* NULL: the number is taken, or there are too many. */
struct p9_fid *p9_fid_new(struct p9_session *s, uint32_t number, struct fs_node *node,
			  uint32_t uid);
void p9_fid_move(struct p9_session *s, struct p9_fid *f, struct fs_node *node);
/* It becomes an attribute's value. False: there are too many. */
bool p9_fid_set_value(struct p9_session *s, struct p9_fid *f, enum p9_use use);
void p9_fid_free(struct p9_session *s, struct p9_fid *f);
void p9_fids_done(struct p9_session *s);

/* ---- p9_wait.c ---- */
/* The spots are in the note; answers if it cannot be sent. */
void p9_ask(struct p9_req *r, const struct p9_fid *f, struct fs_node *node,
	    const struct fs_note_parts *p, uint32_t flags);
void p9_cancel(struct p9_session *s, uint16_t tag);
void p9_cancel_all(struct p9_session *s);
bool p9_tag_waits(const struct p9_session *s, uint16_t tag);

/* ---- one function for each message ---- */
typedef void (*p9_handler)(struct p9_req *r);
void p9_statfs(struct p9_req *r);
void p9_lopen(struct p9_req *r);
void p9_lcreate(struct p9_req *r);
void p9_symlink(struct p9_req *r);
void p9_mknod(struct p9_req *r);
void p9_rename(struct p9_req *r);
void p9_readlink(struct p9_req *r);
void p9_getattr(struct p9_req *r);
void p9_setattr(struct p9_req *r);
void p9_xattrwalk(struct p9_req *r);
void p9_xattrcreate(struct p9_req *r);
void p9_readdir(struct p9_req *r);
void p9_fsync(struct p9_req *r);
void p9_lock(struct p9_req *r);
void p9_getlock(struct p9_req *r);
void p9_link(struct p9_req *r);
void p9_mkdir(struct p9_req *r);
void p9_renameat(struct p9_req *r);
void p9_unlinkat(struct p9_req *r);
void p9_read(struct p9_req *r);
void p9_write(struct p9_req *r);
void p9_remove(struct p9_req *r);
/* At a clunk: what was written to the fid becomes the attribute. True: the answer comes later. */
bool p9_xattr_set(struct p9_req *r, struct p9_fid *f);
