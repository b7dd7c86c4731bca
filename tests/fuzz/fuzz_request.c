/* fuzz_request - registers of a trapped call and the memory they point to, both of any content. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/linux/door/calls_exec.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "backends/linux/door/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE 4096

/* The caller is this process: its memory is two pages, the second of which may be missing. A copy
 * must come from existing memory, end with a NUL, and fit its buffer. */
static char *memory;
static struct ldoor door;

static size_t room(enum slot slot)
{
	if (slot == SLOT_VALUE)
		return sizeof(door.scratch->value);
	return slot == SLOT_EXTRA ? sizeof(door.scratch->extra) : sizeof(door.scratch->paths[0]);
}

static void check(const struct request *r)
{
	for (int i = 0; i < SLOT_COUNT; i++) {
		const struct copy *c = &r->slot[i];

		if (c->have && (c->len >= room(i) || c->data[c->len] != '\0'))
			abort();
	}
	for (int i = SLOT_PATH; i <= SLOT_PATH2; i++)
		if (r->slot[i].have && strlen(r->slot[i].data) != r->slot[i].len)
			abort();
}

static const struct door_call *pick(uint8_t byte)
{
	const struct door_call *call = &door_calls[byte % door_calls_len];

	/* These two need a keeper, which is missing here. */
	return call->prepare == prepare_exec || call->prepare == prepare_umask ? NULL : call;
}

/* Returns a pointer into the memory, at a place from the input, or any number. */
static uint64_t argument(uint8_t kind, uint64_t value)
{
	if (kind & 1)
		return (uint64_t)(uintptr_t)memory + value % (2 * PAGE);
	return kind & 2 ? value % 8192 : value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seccomp_notif n = {.id = 1, .pid = (uint32_t)getpid()};
	struct request *r;
	const struct door_call *call = size ? pick(data[0]) : NULL;
	const size_t head = 2 + 6 * 9;

	if (!memory)
		memory = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || size < head || !call)
		return 0;
	for (int i = 0; i < 6; i++) {
		uint64_t value;

		memcpy(&value, data + 3 + i * 9, sizeof(value));
		n.data.args[i] = argument(data[2 + i * 9], value);
	}
	memset(memory, data[1], 2 * (size_t)PAGE);
	memcpy(memory + PAGE - MIN(size - head, (size_t)PAGE), data + head,
	       MIN(size - head, 2 * (size_t)PAGE));
	if (data[1] & 1)
		mprotect(memory + PAGE, PAGE, PROT_NONE);
	door.door.fd = -1;
	if (!door.scratch)
		request_open(&door);
	r = &door.scratch->now;
	request_begin(&door, r, &n);
	r->call = call;
	for (int i = 0; i < 2; i++)
		r->how[i] = call->path[i].how;
	if (call->prepare)
		call->prepare(&door, r);
	for (int i = 0; i < 2; i++)
		if (r->how[i] != HOW_NONE && call->path[i].path >= 0)
			(void)!request_path(&door, r, i == 0 ? SLOT_PATH : SLOT_PATH2,
					    r->args[call->path[i].path]);
	check(r);
	mprotect(memory + PAGE, PAGE, PROT_READ | PROT_WRITE);
	return 0;
}
