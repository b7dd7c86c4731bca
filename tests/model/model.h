/* model - random sequences of file calls, steps, undo and kills, compared with full descriptions of
 * the tree. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <stdarg.h>

#include "core/base/err.h"
#include "core/base/util.h"
#include "core/journal/journal.h"

/*
 * A sequence is a list of acts, made from a seed (generate.c) before anything runs: each act has
 * all its parameters, so that any part of the list is a sequence, too (shrink.c). play.c passes
 * them one by one to the worker (worker.c), a process that owns the journal and can be killed
 * between any two instructions (trace.c), reads the tree at every boundary, and asks the history
 * (history.c) for the expected tree. acts.c performs one act inside the worker.
 */

/* Name, and frequency in a step (0: not drawn there). */
#define ACTS(X)                                                                                    \
	X(WRITE, "write", 14)	   /* a; x: flags, y: how much */                                  \
	X(HOLD, "hold", 4)	   /* the same, held; x: flags, y: mapped */                       \
	X(POKE, "poke", 6)	   /* writes to a held file; x: which, y: how */                   \
	X(DROP, "drop", 2)	   /* close it */                                                  \
	X(TMPFILE, "tmpfile", 1)   /* O_TMPFILE in directory a, held */                            \
	X(FDLINK, "fdlink", 1)	   /* links a held file to a */                                    \
	X(FDMETA, "fdmeta", 1)	   /* metadata through a held descriptor; y: which */              \
	X(MKDIR, "mkdir", 8)	   /* a */                                                         \
	X(RMDIR, "rmdir", 3)	   /* */                                                           \
	X(UNLINK, "unlink", 6)	   /* */                                                           \
	X(RENAME, "rename", 12)	   /* a to b; x: flags */                                          \
	X(LINK, "link", 4)	   /* a also as b */                                               \
	X(SYMLINK, "symlink", 2)   /* */                                                           \
	X(FIFO, "fifo", 1)	   /* x: or a whiteout */                                          \
	X(SOCKET, "socket", 1)	   /* */                                                           \
	X(TRUNCATE, "truncate", 3) /* x: size */                                                   \
	X(META, "meta", 8)	   /* a; y: chmod, utimens, xattr, ACL, chown */                   \
	X(RMTREE, "rmtree", 2)	   /* rm -rf a */                                                  \
	X(MKTREE, "mktree", 2)	   /* directory a with a few things in it */                       \
	X(BEGIN, "begin", 0)	   /* y: kind of step, with a safeguard */                         \
	X(COMMIT, "commit", 0)	   /* */                                                           \
	X(ABORT, "abort", 0)	   /* y: and redo has it */                                        \
	X(UNDO, "undo", 0)	   /* x: how many, y: flags for conflicts */                       \
	X(REDO, "redo", 0)	   /* y: the same */                                               \
	X(RESTORE, "restore", 0)   /* x: which step, a: path */                                    \
	X(EXTERNAL, "external", 0) /* a, b: an external edit; y: which */                          \
	X(TIDY, "tidy", 0)	   /* compress what is kept */                                     \
	X(PRUNE, "prune", 0)	   /* x: most steps to keep */                                     \
	X(REOPEN, "reopen", 0)	   /* */                                                           \
	X(KILL, "kill", 0)	   /* after x system calls and y instructions */

enum act_kind {
#define X(id, name, weight) ACT_##id,
	ACTS(X)
#undef X
	ACT_KINDS
};

struct act {
	enum act_kind kind;
	unsigned who; /* which of the processes */
	unsigned x, y;
	char a[16], b[16];
};

#define WHO_MAX	 3
#define HELD_MAX 6
#define ACTS_MAX 400
#define LIST_MAX 128

struct sequence {
	struct act acts[ACTS_MAX];
	size_t n;
};

struct setting {
	const char *base;  /* directory of the folders */
	const char *state; /* directory of the stores; NULL: beside the folder */
	bool verbose;	   /* prints every act and its result */
};

const char *act_name(enum act_kind kind);
void act_print(FILE *out, const struct act *a);

/* generate.c */
void generate(struct sequence *s, uint64_t seed, bool externals);

/* play.c: returns NULL, or the first difference (heap), with more words on stderr unless quiet. */
char *play(const struct setting *set, const struct sequence *s, uint64_t seed, bool quiet);

/* upkeep.c */
int upkeep(struct journal *j, const struct act *a, size_t *ret_gone);
/* journal_verify() of all folders. */
int verify_all(struct journal *j, void (*say)(void *data, const char *words), void *data,
	       struct err *err);

/* shrink.c: removes acts without which the same failure remains. */
void shrink(const struct setting *set, struct sequence *s, uint64_t seed, const char *failure);
