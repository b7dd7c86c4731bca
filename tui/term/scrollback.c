/* scrollback - lines that left the screen, stored compactly: UTF-8 text and runs of style. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/scrollback.h"

#include <string.h>

#define FIRST_BYTES ((size_t)64 * 1024)
#define FIRST_LINES 256

void scrollback_init(struct scrollback *sb, size_t max_lines)
{
	*sb = (struct scrollback){.max = max_lines, .bytes_max = SCROLLBACK_BYTES};
	sb->ring = MIN(max_lines, (size_t)FIRST_LINES);
	sb->slot = xcalloc(sb->ring, sizeof(*sb->slot));
}

/* Sets the bounds; at least the current lines fit until the next push. */
void scrollback_bound(struct scrollback *sb, size_t max_lines, size_t max_bytes)
{
	sb->max = MAX(max_lines, sb->count);
	sb->bytes_max = MAX(max_bytes, sb->cap);
}

void scrollback_done(struct scrollback *sb)
{
	free(sb->mem);
	free(sb->slot);
	*sb = (struct scrollback){0};
}

void scrollback_clear(struct scrollback *sb)
{
	free(sb->mem);
	sb->mem = NULL;
	sb->cap = sb->tail = sb->first = sb->count = 0;
}

static struct scrollback_slot *slot_at(const struct scrollback *sb, size_t i)
{
	return &sb->slot[(sb->first + i) % sb->ring];
}

struct span scrollback_line(const struct scrollback *sb, size_t i)
{
	const struct scrollback_slot *s = slot_at(sb, i);

	return (struct span){.data = sb->mem + s->at, .len = s->len};
}

static void drop_oldest(struct scrollback *sb)
{
	sb->first = (sb->first + 1) % sb->ring;
	sb->count--;
	if (sb->count == 0)
		sb->tail = 0;
}

/* Copies the lines, oldest first, to memory of another size. */
static void resize_mem(struct scrollback *sb, size_t cap)
{
	char *mem = xmalloc(cap);
	size_t used = 0;

	for (size_t i = 0; i < sb->count; i++) {
		struct scrollback_slot *s = slot_at(sb, i);

		memcpy(mem + used, sb->mem + s->at, s->len);
		s->at = (uint32_t)used;
		used += s->len;
	}
	free(sb->mem);
	sb->mem = mem;
	sb->cap = cap;
	sb->tail = used;
}

static void grow_ring(struct scrollback *sb)
{
	size_t ring = MAX(MIN(sb->ring * 2, sb->max), (size_t)1);
	struct scrollback_slot *slot = xcalloc(ring, sizeof(*slot));

	for (size_t i = 0; i < sb->count; i++)
		slot[i] = *slot_at(sb, i);
	free(sb->slot);
	sb->slot = slot;
	sb->ring = ring;
	sb->first = 0;
}

/* Finds a contiguous place for len bytes. Returns false if a line must be dropped first. */
static bool find_place(struct scrollback *sb, size_t len)
{
	size_t head;

	if (sb->count == 0) {
		sb->tail = 0;
		return len <= sb->cap;
	}
	head = slot_at(sb, 0)->at;
	if (slot_at(sb, sb->count - 1)->at < head) /* wrapped around: [tail, head) is free */
		return len <= head - sb->tail;
	if (len <= sb->cap - sb->tail)
		return true;
	if (len > head)
		return false;
	sb->tail = 0;
	return true;
}

size_t scrollback_push(struct scrollback *sb, struct span line)
{
	size_t dropped = 0;
	struct scrollback_slot *s;

	if (line.len > SCROLLBACK_BYTES / 4)
		return 0;
	if (sb->count >= sb->max) {
		drop_oldest(sb);
		dropped++;
	} else if (sb->count == sb->ring) {
		grow_ring(sb);
	}
	while (!find_place(sb, line.len)) {
		if (sb->cap < sb->bytes_max) {
			resize_mem(sb, MAX(FIRST_BYTES, sb->cap * 2));
			continue;
		}
		drop_oldest(sb);
		dropped++;
	}
	memcpy(sb->mem + sb->tail, line.data, line.len);
	s = slot_at(sb, sb->count++);
	s->at = (uint32_t)sb->tail;
	s->len = (uint32_t)line.len;
	sb->tail += line.len;
	return dropped;
}

void scrollback_end_line(struct scrollback *sb)
{
	uint16_t head;
	char *at;

	if (!sb->count)
		return;
	at = sb->mem + slot_at(sb, sb->count - 1)->at;
	memcpy(&head, at, sizeof(head));
	head &= LINE_RUNS;
	memcpy(at, &head, sizeof(head));
}

void scrollback_pop(struct scrollback *sb)
{
	sb->count--;
	sb->tail = 0;
	if (sb->count) {
		struct scrollback_slot *s = slot_at(sb, sb->count - 1);

		sb->tail = s->at + s->len;
	}
}
