/* request - one trapped call: its arguments, copied once out of the caller's memory. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/request.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backends/linux/door/state.h"
#include "core/base/util.h"
#include "core/keeper/keeper.h"

/*
 * The caller's other threads may write to its memory at any time. So each argument is copied
 * exactly once, and what was copied is what is resolved, asked, journaled and performed; a request
 * that waited for a human is taken up again with the same copies.
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
	r->reads = false;
	r->opened = -1;
	r->asked.stale = false;
	r->asked.to.object[0] = r->asked.back.object[0] = '\0';
	r->resolve = 0;
	r->flags = 0;
	r->mode = 0;
}

/*
 * Read at most size bytes. A page that is not there ends the copy, so that a string just before it
 * is found: the remote side is cut at page ends, and what lies before a bad part is transferred.
 */
static ssize_t peek(const struct request *r, uint64_t addr, void *to, size_t size)
{
	struct iovec local = {to, size};
	struct iovec remote[2];
	size_t first = MIN(size, PAGE - (addr & (PAGE - 1)));
	ssize_t n;

	remote[0] = (struct iovec){(void *)(uintptr_t)addr, first};
	remote[1] = (struct iovec){(void *)(uintptr_t)(addr + first), MIN(size - first, PAGE)};
	local.iov_len = remote[0].iov_len + remote[1].iov_len;
	n = process_vm_readv(r->tid, &local, 1, remote, remote[1].iov_len > 0 ? 2 : 1, 0);
	if (n >= 0)
		return n;
	if (errno == ESRCH)
		return DOOR_DEAD;
	/* Memory that is closed to us (the program file was not readable): the floor answers. */
	return errno == EPERM ? DOOR_CONTINUE : -EFAULT;
}

/* Copy up to and with the first NUL; `full` is what a string longer than max is. */
static int copy_string(const struct request *r, struct copy *c, uint64_t addr, size_t max, int full)
{
	size_t len = 0;

	while (len < max) {
		/* Most names are short: one small copy, then larger ones. */
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

/*
 * Two short paths at once. What does not hold its end, or could not be read, is not taken: it is
 * copied by itself, as if this had not been.
 */
void request_paths(struct request *r, const uint64_t addr[2])
{
	struct iovec local[2], remote[2];
	size_t want = 0;

	for (int i = 0; i < 2; i++) {
		size_t n = MIN((size_t)SHORT, PAGE - (addr[i] & (PAGE - 1)));

		local[i] = (struct iovec){r->slot[i].data, n};
		remote[i] = (struct iovec){(void *)(uintptr_t)addr[i], n};
		want += n;
	}
	if (process_vm_readv(r->tid, local, 2, remote, 2, 0) != (ssize_t)want)
		return;
	for (int i = 0; i < 2; i++) {
		const char *end = memchr(r->slot[i].data, '\0', local[i].iov_len);

		if (end == NULL)
			continue;
		r->slot[i].len = (size_t)(end - r->slot[i].data);
		r->slot[i].have = true;
	}
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

int request_alive(const struct ldoor *d, const struct request *r)
{
	uint64_t id = r->id;

	return ioctl(d->door.fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 ? 0 : DOOR_DEAD;
}

int request_fd(struct ldoor *d, const struct request *r, int fd)
{
	int dup = fd < 0 ? -EBADF : keeper_getfd(d->k, &r->caller, fd);

	return dup == -ESRCH ? DOOR_DEAD : dup;
}
