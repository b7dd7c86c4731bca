/* report - the facts of a session for `cordon report`, and the page that shows them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/hook/runs_tests.h"

struct here;
struct redact;

enum fact_kind {
	FACT_COMMAND,  /* object: the command line */
	FACT_QUESTION, /* answer and by; NULL: not answered, or withdrawn */
	FACT_REFUSAL,
	FACT_ROLLBACK, /* reason: "rolled back step 2: rm README" */
	FACT_EDIT,     /* an external edit */
	FACT_YOURS,    /* the user's own command beside the agent (cordon exec) */
};

struct fact {
	enum fact_kind kind;
	int64_t step; /* 0: none */
	int pid;
	int status; /* FACT_COMMAND: exit status; -1: unknown */
	bool ended; /* FACT_COMMAND */
	bool undone;
	bool note;    /* FACT_COMMAND: step_is_note() */
	bool allowed; /* FACT_QUESTION */
	bool secret;  /* FACT_REFUSAL: the object is a secret by its name */
	int64_t us;   /* FACT_QUESTION: time to the answer; -1: unknown */
	size_t count; /* number of equal facts */
	size_t names; /* of refusals in the directory `object`; 0: it is the refused object */
	enum runs_tests tests;
	char *op, *object, *program, *answer, *by, *reason; /* raw; NULL: none */
};

struct file_fact {
	char *old_path, *path; /* raw; equal unless renamed */
	int added, deleted;
	bool binary, directory;
};

struct turn_facts {
	int64_t us; /* wall clock */
	char *prompt;
	struct fact *list;
	size_t n, cap, cut; /* cut: facts beyond FACTS_MAX */
	struct file_fact *files;
	size_t n_files;
	size_t git_files; /* git's own files, not in `files` */
	size_t elsewhere; /* outside the folder, like the agent's notes; not in `files` */
	char *files_why;  /* why some files are missing; NULL: none is */
};
#define FACTS_MAX 5000 /* in a turn */

struct host_fact {
	char *target; /* HOST:PORT */
	bool came;    /* an incoming connection */
	size_t count;
	uint64_t sent, received;
	char *excess; /* message: sent more bytes than network.bytes allows; or NULL */
};
#define HOSTS_MAX 1000

/* A session. The first turn has the facts before the first prompt. */
struct report {
	char *session, *folder, *command, *backend;
	int64_t began_us, ended_us; /* ended_us 0: the session runs, or was killed */
	int status;
	struct turn_facts *turns;
	size_t n_turns;
	struct host_fact *hosts;
	size_t n_hosts, hosts_cut;
	char *counted; /* message about lines that were only counted; or NULL */
};

/* ---- report_log.c: from the audit log ---- */
/* Reads a session. name: its name or the end of it; NULL: the newest. -ENOENT: not in the log. */
int report_read(struct report *r, const char *audit_path, const char *name, struct err *err)
	MUST_USE;
void report_done(struct report *r);

/* ---- report_files.c: from the history ---- */
/* Adds the files of each turn, and marks undone steps. */
int report_add_files(struct report *r, const struct here *at, struct err *err) MUST_USE;

/* ---- report_page.c ---- */
/* Writes the page to standard output. In all text of the agent, `redact` stars secrets, and control
 * characters are escaped. */
void report_print(const struct report *r, const char *home, const struct redact *redact, bool html);
