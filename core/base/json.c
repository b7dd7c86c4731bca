/* json - writing JSON text by hand where a line is hot; reading is cJSON's. */
/* SPDX-License-Identifier: MIT */
#include "core/base/json.h"

#include "core/base/text.h"

/* How many bytes from here on stand as they are: most of what is quoted is nothing else. */
static size_t plain(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void add_unit(struct buf *out, unsigned unit)
{
	static const char digits[] = "0123456789abcdef";
	const char text[] = {'\\',
			     'u',
			     digits[unit >> 12 & 15],
			     digits[unit >> 8 & 15],
			     digits[unit >> 4 & 15],
			     digits[unit & 15]};

	buf_add(out, text, sizeof(text));
}

void json_quote(struct buf *out, const char *s, size_t len)
{
	buf_ch(out, '"');
	for (size_t i = 0; i < len;) {
		size_t n = plain(s + i, len - i);
		unsigned char c;
		int32_t cp;

		buf_add(out, s + i, n);
		i += n;
		if (i == len)
			break;
		c = (unsigned char)s[i];
		if (c == '"' || c == '\\') {
			buf_ch(out, '\\');
			buf_ch(out, s[i++]);
			continue;
		}
		n = text_decode(s + i, len - i, &cp);
		if (cp < 0)
			add_unit(out, 0xdc00u | c);
		else if (cp <= 0xffff && text_is_deceptive(cp)) /* in one escape */
			add_unit(out, (unsigned)cp);
		else
			buf_add(out, s + i, n);
		i += n;
	}
	buf_ch(out, '"');
}
