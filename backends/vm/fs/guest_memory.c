/* guest_memory - the guest's memory as QEMU shares it: maps regions, translates addresses. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/guest_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/util.h"

void guest_memory_done(struct guest_memory *m)
{
	for (size_t i = 0; i < m->n; i++)
		munmap(m->region[i].map, m->region[i].map_len);
	m->n = 0;
}

/* Maps a region. The file must hold all of it: a read past the end of the file raises SIGBUS. */
static int map_region(struct guest_memory *m, const struct guest_region *r, int fd)
{
	struct stat st;
	void *map;

	if (r->size == 0 || r->offset > INT64_MAX || r->size > INT64_MAX - r->offset ||
	    r->guest + r->size < r->guest || r->user + r->size < r->user)
		return -EINVAL;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < r->offset + r->size)
		return -EINVAL;
	map = mmap(NULL, r->size + r->offset, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		   fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	m->region[m->n].r = *r;
	m->region[m->n].map = map;
	m->region[m->n].map_len = r->size + r->offset;
	m->region[m->n].base = (char *)map + r->offset;
	m->n++;
	return 0;
}

int guest_memory_set(struct guest_memory *m, const struct guest_region *r, const int *fds, size_t n)
{
	int got = n <= GUEST_REGIONS ? 0 : -EINVAL;

	guest_memory_done(m);
	for (size_t i = 0; i < n && got == 0; i++)
		got = map_region(m, &r[i], fds[i]);
	if (got < 0)
		guest_memory_done(m);
	return got;
}

void *guest_memory_user(const struct guest_memory *m, uint64_t addr, size_t len)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct guest_region *r = &m->region[i].r;

		if (addr >= r->user && addr - r->user < r->size &&
		    len <= r->size - (addr - r->user))
			return m->region[i].base + (addr - r->user);
	}
	return NULL;
}

/* Returns a pointer to the bytes at addr. Reduces *len to the part that lies in one region. */
static void *find_guest(const struct guest_memory *m, uint64_t addr, size_t *len)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct guest_region *r = &m->region[i].r;

		if (addr >= r->guest && addr - r->guest < r->size) {
			*len = MIN(*len, r->size - (addr - r->guest));
			return m->region[i].base + (addr - r->guest);
		}
	}
	return NULL;
}

bool guest_memory_pieces(const struct guest_memory *m, uint64_t addr, uint32_t len, struct iovec *v,
			 size_t *n, size_t max)
{
	while (len > 0) {
		size_t part = len;
		void *p = find_guest(m, addr, &part);

		if (!p || *n == max)
			return false;
		v[(*n)++] = (struct iovec){p, part};
		addr += part;
		len -= (uint32_t)part;
	}
	return true;
}
