/* base64 - encodes and decodes base64 (RFC 4648). */
/* SPDX-License-Identifier: MIT */
#include "core/base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *out, const char *bytes, size_t len)
{
	const unsigned char *b = (const unsigned char *)bytes;

	buf_reserve(out, len / 3 * 4 + 4);
	for (size_t i = 0; i < len; i += 3) {
		unsigned v = (unsigned)b[i] << 16 | (i + 1 < len ? (unsigned)b[i + 1] << 8 : 0) |
			     (i + 2 < len ? b[i + 2] : 0);

		buf_ch(out, digits[v >> 18]);
		buf_ch(out, digits[v >> 12 & 63]);
		buf_ch(out, i + 1 < len ? digits[v >> 6 & 63] : '=');
		buf_ch(out, i + 2 < len ? digits[v & 63] : '=');
	}
}

char *base64_decode(const char *text, size_t *ret_len)
{
	size_t len = strlen(text), n = 0;
	size_t pad = len && text[len - 1] == '=' ? 1 + (len > 1 && text[len - 2] == '=') : 0;
	AUTO_FREE char *out = xmalloc(len / 4 * 3 + 1);
	unsigned v = 0;

	if (len % 4)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		const char *at = i < len - pad && text[i] ? strchr(digits, text[i]) : NULL;

		if (!at && i < len - pad)
			return NULL;
		v = v << 6 | (at ? (unsigned)(at - digits) : 0);
		if (i % 4 < 3)
			continue;
		out[n++] = (char)(v >> 16 & 255);
		out[n++] = (char)(v >> 8 & 255);
		out[n++] = (char)(v & 255);
		v = 0;
	}
	*ret_len = n - pad;
	out[*ret_len] = '\0';
	return take_ptr(&out);
}
