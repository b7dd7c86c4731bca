/* json - writing JSON text by hand where a line is hot; reading is cJSON's. */
/* SPDX-License-Identifier: MIT */
#include "core/base/json.h"

#include "core/base/text.h"

void json_quote(struct buf *out, const char *s, size_t len)
{
	buf_ch(out, '"');
	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)s[i];
		int32_t cp;
		size_t n;

		if (c == '"' || c == '\\') {
			buf_ch(out, '\\');
			buf_ch(out, s[i++]);
			continue;
		}
		if (c >= 0x20 && c < 0x7f) {
			buf_ch(out, s[i++]);
			continue;
		}
		n = text_decode(s + i, len - i, &cp);
		if (cp < 0)
			buf_fmt(out, "\\udc%02x", c);
		else if (cp <= 0xffff && text_is_deceptive(cp)) /* in one escape */
			buf_fmt(out, "\\u%04x", (unsigned)cp);
		else
			buf_add(out, s + i, n);
		i += n;
	}
	buf_ch(out, '"');
}
