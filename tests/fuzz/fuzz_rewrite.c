/* fuzz_rewrite - requests to a host with a secret read the same, however they are split. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rewrite_rule rules[] = {{"x-api-key", "PLACE", "PLACE"}};

static int run(const char *data, size_t size, size_t piece, struct buf *out)
{
	struct rewriter w;
	const char *why;
	int r = 0;

	rewriter_init(&w, "a.b", rules, 1);
	for (size_t at = 0; r == 0 && at < size; at += piece)
		r = rewriter_feed(&w, data + at, MIN(piece, size - at), out, &why);
	/* Bytes that are not forwarded yet must be the last ones: if a value equals its
	 * placeholder, every byte keeps its place. */
	if (out->len + w.in.len > size || memcmp(out->data, data, out->len) != 0 ||
	    (r == 0 && out->len + w.in.len != size))
		abort();
	rewriter_done(&w);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* On the heap, without a NUL at the end, so that a read beyond it is detected. */
	char *copy = malloc(size ? size : 1);
	AUTO_BUF struct buf whole = BUF_INIT, bytes = BUF_INIT;
	int at_once, by_byte;

	if (size)
		memcpy(copy, data, size);
	at_once = run(copy, size, size ? size : 1, &whole);
	by_byte = run(copy, size, 1, &bytes);
	if (at_once != by_byte ||
	    (at_once == 0 &&
	     (whole.len < bytes.len || memcmp(whole.data, bytes.data, bytes.len) != 0)))
		abort();
	free(copy);
	return 0;
}
