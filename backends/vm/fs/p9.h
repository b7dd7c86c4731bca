/* p9 - serves 9P2000.L messages from a share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/fs_tree.h"

/*
 * The fallback for hosts without vhost-user, over any stream. The same core as FUSE: nodes, paths,
 * and changes through the keeper. A client's fid is a number that it chooses itself: it finds an
 * entry of this session's table, or nothing.
 *
 * Life: p9_new() -> p9_serve()... -> p9_free(). Tversion begins anew. A request that the keeper
 * holds can be cancelled by Tflush, and has no answer then.
 */
struct p9_session;

#define P9_MSIZE_MAX (4 << 20)
#define P9_HEAD	     7 /* size, type, tag */

/* Takes an answer's bytes, copied if they are to last. */
typedef void (*p9_send)(void *data, const void *message, size_t len);

struct p9_session *p9_new(struct fs_tree *tree, p9_send send, void *data); /* tree borrowed */
/* One whole message. False: the client does not keep to the protocol: nothing is served any more.
 */
bool p9_serve(struct p9_session *s, const void *message, size_t len);
void p9_free(struct p9_session *s); /* NULL is a no-op */
size_t p9_waiting(const struct p9_session *s);
/* The largest message that the client may send now. */
uint32_t p9_msize(const struct p9_session *s);
