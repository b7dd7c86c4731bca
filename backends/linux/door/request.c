/* request - one trapped call: its arguments, copied once out of the caller's memory. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/request.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backends/linux/door/listeners.h"
#include "backends/linux/door/state.h"
#include "core/base/util.h"
#include "core/keeper/keeper.h"

/*
 * The caller's other threads may write to its memory at any time. So each argument is copied
 * exactly once, and the copy is resolved, asked about, journaled and performed. A request that
 * waited for the user's answer continues with the same copies.
 */

#define PAGE  ((size_t)4096)
#define SHORT 256 /* most names are */

void request_open(struct ldoor *d)
{
	d->scratch = xcalloc(1, sizeof(*d->scratch));
	for (int i = 0; i < 2; i++)
		d->scratch->places[i].fd = d->scratch->places[i].seen = -1;
}

void request_close(struct ldoor *d)
{
	free(take_ptr(&d->scratch));
}

static size_t slot_size(const struct ldoor *d, enum slot slot)
{
	const struct scratch *s = d->scratch;

	if (slot == SLOT_VALUE)
		return sizeof(s->value);
	return slot == SLOT_EXTRA ? sizeof(s->extra) : sizeof(s->paths[0]);
}

static char *slot_memory(struct ldoor *d, enum slot slot)
{
	struct scratch *s = d->scratch;

	if (slot == SLOT_VALUE)
		return s->value;
	return slot == SLOT_EXTRA ? s->extra : s->paths[slot];
}

void request_begin(struct ldoor *d, struct request *r, const struct seccomp_notif *n)
{
	r->id = n->id;
	r->tid = (int)n->pid;
	for (int i = 0; i < 6; i++)
		r->args[i] = n->data.args[i];
	r->call = NULL;
	for (int i = 0; i < SLOT_COUNT; i++)
		r->slot[i] = (struct copy){.data = slot_memory(d, i)};
	for (int i = 0; i < 2; i++) {
		r->empty_ok[i] = false;
		r->dirfd[i] = AT_FDCWD;
		r->shown[i].text = NULL;
		r->place[i] = &d->scratch->places[i];
		r->place[i]->folder = NULL;
		r->place[i]->recent = r->place[i]->kept = false;
		r->place[i]->fd = r->place[i]->seen = -1;
	}
	r->opath_ok = r->slash = r->creates = r->gives_fd = r->resumed = false;
	r->reads = r->same_process = false;
	r->opened = -1;
	r->asked.stale = false;
	r->asked.to.object[0] = r->asked.back.object[0] = '\0';
	r->resolve = 0;
	r->flags = 0;
	r->mode = 0;
}

/*
 * Reads at most size bytes. A missing page ends the copy, so that a string that ends before it is
 * found: the remote side is split at page boundaries, and the part before a bad page is
 * transferred.
 */
static ssize_t peek(struct request *r, uint64_t addr, void *to, size_t size)
{
	struct iovec local = {to, size};
	struct iovec remote[2];
	size_t first = MIN(size, PAGE - (addr & (PAGE - 1)));
	ssize_t n;

	remote[0] = (struct iovec){(void *)(uintptr_t)addr, first};
	remote[1] = (struct iovec){(void *)(uintptr_t)(addr + first), MIN(size - first, PAGE)};
	local.iov_len = remote[0].iov_len + remote[1].iov_len;
	r->same_process = false;
	n = process_vm_readv(r->tid, &local, 1, remote, remote[1].iov_len > 0 ? 2 : 1, 0);
	if (n >= 0)
		return n;
	if (errno == ESRCH)
		return DOOR_DEAD;
	/* EPERM: the memory is closed to the keeper, because the program's file is not readable. */
	return errno == EPERM ? DOOR_CONTINUE : -EFAULT;
}

/* Copies a string with its NUL. `full` is the error for a string longer than max. */
static int copy_string(struct request *r, struct copy *c, uint64_t addr, size_t max, int full)
{
	size_t len = 0;

	while (len < max) {
		/* Most names are short: copy a small piece first, then a large one. */
		size_t want = len == 0 ? MIN(max, (size_t)SHORT) : max - len;
		ssize_t n = peek(r, addr + len, c->data + len, want);
		char *end;

		if (n <= 0)
			return n == 0 ? -EFAULT : (int)n;
		end = memchr(c->data + len, '\0', (size_t)n);
		if (end != NULL) {
			c->len = (size_t)(end - c->data);
			c->have = true;
			return 0;
		}
		len += (size_t)n;
	}
	return full;
}

int request_path(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr)
{
	(void)d;
	if (r->slot[slot].have)
		return 0;
	return copy_string(r, &r->slot[slot], addr, PATH_MAX, -ENAMETOOLONG);
}

static size_t short_part(uint64_t addr)
{
	return MIN((size_t)SHORT, PAGE - (addr & (PAGE - 1)));
}

/*
 * Copies two arguments at once. An argument that is incomplete, or could not be read, is copied
 * again by itself.
 */
static bool read_both(struct request *r, const enum slot slot[2], const uint64_t addr[2],
		      const size_t len[2])
{
	struct iovec local[2], remote[2];

	for (int i = 0; i < 2; i++) {
		local[i] = (struct iovec){r->slot[slot[i]].data, len[i]};
		remote[i] = (struct iovec){(void *)(uintptr_t)addr[i], len[i]};
	}
	r->same_process = false;
	return process_vm_readv(r->tid, local, 2, remote, 2, 0) == (ssize_t)(len[0] + len[1]);
}

static void take_string(struct copy *c, size_t len)
{
	const char *end = memchr(c->data, '\0', len);

	c->len = end != NULL ? (size_t)(end - c->data) : 0;
	c->have = end != NULL;
}

void request_paths(struct request *r, const uint64_t addr[2])
{
	const size_t len[2] = {short_part(addr[0]), short_part(addr[1])};

	if (!read_both(r, (const enum slot[]){SLOT_PATH, SLOT_PATH2}, addr, len))
		return;
	take_string(&r->slot[SLOT_PATH], len[0]);
	take_string(&r->slot[SLOT_PATH2], len[1]);
}

void request_name_and_value(struct request *r, uint64_t name, uint64_t value, size_t size)
{
	const size_t len[2] = {short_part(name), size};
	struct copy *c = &r->slot[SLOT_VALUE];

	if (c->have || r->slot[SLOT_EXTRA].have || size > XATTR_SIZE_MAX ||
	    !read_both(r, (const enum slot[]){SLOT_EXTRA, SLOT_VALUE},
		       (const uint64_t[]){name, value}, len))
		return;
	take_string(&r->slot[SLOT_EXTRA], len[0]);
	c->data[size] = '\0';
	c->len = size;
	c->have = true;
}

int request_text(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t max)
{
	if (r->slot[slot].have)
		return 0;
	return copy_string(r, &r->slot[slot], addr, MIN(max, slot_size(d, slot)), -E2BIG);
}

int request_mem(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t len)
{
	struct copy *c = &r->slot[slot];
	size_t got = 0;

	if (c->have)
		return 0;
	if (len >= slot_size(d, slot))
		return -E2BIG;
	while (got < len) {
		ssize_t n = peek(r, addr + got, c->data + got, len - got);

		if (n <= 0)
			return n == 0 ? -EFAULT : (int)n;
		got += (size_t)n;
	}
	c->data[len] = '\0';
	c->len = len;
	c->have = true;
	return 0;
}

int request_write(const struct request *r, uint64_t addr, const void *data, size_t len)
{
	/* process_vm_writev() does not write through this. */
	const struct iovec local = {(void *)(uintptr_t)data, len};
	const struct iovec remote = {(void *)(uintptr_t)addr, len};

	return process_vm_writev(r->tid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

/*
 * A handle stays with one process, and fails once that has ended. When the request came, its thread
 * had the number tid. If a handle for tid that is older than the request still finds its process,
 * that process had the number all the time: each look by number in between was at the caller. The
 * next look by number clears same_process. A request that waited for the user may have been
 * interrupted meanwhile: only the kernel knows. The same holds if another thread may have called
 * execve(2): the new program has the number and the handles of the process's first thread, whose
 * call has ended.
 */
void request_proved(struct request *r, bool older)
{
	r->same_process = older && (r->tid != r->caller.pid || r->caller.known);
}

int request_alive(const struct ldoor *d, const struct request *r)
{
	if (r->same_process && !r->resumed)
		return 0;
	return listener_holds(d, r->id) ? 0 : DOOR_DEAD;
}

/* Returns whether the keeper had a pidfd of the process before the request. It proves nothing about
 * a thread other than the first. */
static bool has_older_pidfd(const struct request *r)
{
	return r->caller.known && r->tid == r->caller.pid;
}

int request_fd(struct ldoor *d, struct request *r, int fd)
{
	int dup = fd < 0 ? -EBADF : keeper_getfd(d->k, &r->caller, fd);

	if (dup >= 0)
		request_proved(r, has_older_pidfd(r));
	return dup == -ESRCH ? DOOR_DEAD : dup;
}
