/* probe_priv - trials of what a host can do, and lists of them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/* A trial runs in a process of its own. It returns 0 or a negative errno, and a message in
 * found. */
typedef int (*trial_fn)(char *found, size_t size);

struct trial {
	const char *name;
	trial_fn fn;
	uint32_t gives; /* BACKEND_* bits that need it */
	bool needed;
	const char *remedy;
};

/* ---- probe.c ---- */
/* Ends a trial after an error of errno: returns its code, with a message in found. errno 0: the
 * call that had to fail did not. */
int probe_failed(char *found, size_t size, const char *what);
/* Returns the BACKEND_* bits that are not given. report may be NULL. Sets err for the first needed
 * trial that fails. */
uint32_t probe_trials(const struct trial *list, size_t n, struct probe_report *report,
		      struct err *err);
/* Tries what every Linux backend needs: Landlock, the system-call door, limits. */
uint32_t probe_shared(struct probe_report *report, struct err *err);

/* The trial of the network gate, and advice if it fails. */
int probe_network(char *found, size_t size);
extern const char probe_network_remedy[];
extern const char probe_getfd_remedy[];

/* How the message of a trial begins that got no listener. */
#define PROBE_NO_LISTENER "a listener of seccomp"

/* ---- probe_notify.c: the trials that need a second process under a filter ---- */
int probe_notify(char *found, size_t size); /* a trapped call is answered with a descriptor */
int probe_getfd(char *found, size_t size);  /* a descriptor of the trapped caller is duplicated */
int probe_wait_killable(char *found, size_t size); /* a signal does not interrupt a trapped call */
