/* vm_priv - functions that the files of the backend vm share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/guest/guest.h"
#include "core/session/backend.h"

#define VM_BASE_MAX ((size_t)64 << 20)

/* ---- plan.c: a session's needs, checked before any process starts ---- */
struct vm_plan {
	char *qemu;
	struct guest guest;
	bool kvm;
	const char *no_kvm; /* why KVM is not used */
	int64_t memory;
	int cpus;
	int disk; /* the folder's image, locked; -1: ephemeral */
};

/* Refuses settings that no guest has. */
int vm_check(const struct spawn_spec *spec, struct err *err) MUST_USE;
/* Makes the plan. On failure no resource is held, and err says in one line what to do. */
int vm_plan_make(struct vm_plan *ret, const struct spawn_spec *spec, struct err *err) MUST_USE;
void vm_plan_done(struct vm_plan *p);

/* Return 0 and the guest's memory in bytes, or its number of processors. Parts of
 * vm_plan_make(). */
int vm_choose_memory(const struct vm_settings *s, int64_t *ret, struct err *err) MUST_USE;
int vm_choose_cpus(const struct vm_settings *s, bool kvm, int *ret, struct err *err) MUST_USE;

/* ---- probe.c ---- */
/* Returns whether KVM really runs a processor; else *why says why not. Tries once; processes that
 * are forked later inherit the result. */
bool vm_has_kvm(const char *qemu, const char **why);
const char *vm_tier(void);
uint32_t vm_probe(struct probe_report *report, struct err *err);
