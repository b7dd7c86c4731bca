/* guest_memory - the guest's memory as QEMU shares it: maps regions, translates addresses. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define GUEST_REGIONS 8 /* the vhost-user protocol's limit */

struct guest_region { /* as in VHOST_USER_SET_MEM_TABLE */
	uint64_t guest, size, user, offset;
};

struct guest_memory {
	struct {
		struct guest_region r;
		void *map;
		size_t map_len;
		char *base; /* of the region within the map */
	} region[GUEST_REGIONS];
	size_t n;
};

/* Maps the regions in place of the former ones. fds are borrowed. Returns 0, or negative errno;
 * then no region is mapped. */
int guest_memory_set(struct guest_memory *m, const struct guest_region *r, const int *fds,
		     size_t n);
void guest_memory_done(struct guest_memory *m);
/* Returns a pointer to len bytes at an address of the front end's, or NULL if they are not all in
 * one region. */
void *guest_memory_user(const struct guest_memory *m, uint64_t addr, size_t len);
/* Adds the pieces of len bytes at a guest-physical address to v. Returns false if some bytes are in
 * no region, or v has no room. */
bool guest_memory_pieces(const struct guest_memory *m, uint64_t addr, uint32_t len, struct iovec *v,
			 size_t *n, size_t max);
