/* vm_priv - what the parts of the backend vm say to each other. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/guest/guest.h"
#include "core/session/backend.h"

#define VM_BASE_MAX ((size_t)64 << 20)

/* ---- plan.c: what a session needs, checked before anything runs ---- */
struct vm_plan {
	char *qemu;
	struct guest guest;
	bool kvm;
	const char *no_kvm; /* why not */
	int64_t memory;
	int cpus;
	int disk; /* the folder's image, locked; -1: ephemeral */
};

/* On failure nothing is held, and err is one line that says what to do. */
int vm_plan_make(struct vm_plan *ret, const struct spawn_spec *spec, struct err *err) MUST_USE;
void vm_plan_done(struct vm_plan *p);

/* 0, and how much memory and how many processors a guest gets. Parts of vm_plan_make(). */
int vm_choose_memory(const struct vm_settings *s, int64_t *ret, struct err *err) MUST_USE;
int vm_choose_cpus(const struct vm_settings *s, bool kvm, int *ret, struct err *err) MUST_USE;

/* ---- probe.c ---- */
/* Does KVM really run a processor? Tried once, also for the processes that are forked later. *why
 * says why not. */
bool vm_has_kvm(const char *qemu, const char **why);
const char *vm_tier(void);
uint32_t vm_probe(struct probe_report *report, struct err *err);
