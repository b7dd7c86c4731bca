/* test_gif - images of cells, and the GIF of them as libgif reads it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <gif_lib.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/io.h"
#include "tests/support/check.h"
#include "tui/commands/gif.h"
#include "tui/look/raster.h"

#define W      7
#define H      3
#define PIXELS ((size_t)W * FONT_W * H * FONT_H)

static uint32_t seed = 1;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* ---- glyphs ------------------------------------------------------------------------------------
 */

TEST(glyphs_come_from_the_shipped_font_first)
{
	static const char more[] = "0041:FF000000000000000000000000000000\nnonsense\n4E00:0001\n"
				   "4E01:80010000000000000000000000000000"
				   "00000000000000000000000000000000\n110000:00\n4E02";
	char name[] = "font.XXXXXX";
	int fd = mkstemp(name);
	struct font *f;
	uint16_t rows[FONT_H], wide[FONT_H];

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, more, sizeof(more) - 1), 0);
	close(fd);
	f = font_new(name);
	unlink(name);
	assert_true(font_glyph(f, 'A', 1, rows));
	assert_int_equal(rows[0], 0); /* not from the file */
	assert_int_equal(rows[9], 0x7e00);
	assert_true(font_glyph(f, 'A', 2, wide));
	assert_int_equal(wide[9], 0x07e0); /* in the middle of two columns */
	assert_true(font_glyph(f, 0x4e01, 2, rows));
	assert_int_equal(rows[0], 0x8001);
	assert_true(font_glyph(f, 0x4e01, 1, rows));
	assert_int_equal(rows[0], 0x8100); /* squeezed */
	assert_false(font_glyph(f, 0x4e00, 2, rows));
	assert_int_equal(rows[2], 0x7ffe); /* a box */
	assert_false(font_glyph(f, 0x4e02, 1, rows));
	assert_false(font_glyph(f, -1, 1, rows));
	assert_false(font_glyph(f, 0x10ffff, 1, rows));
	font_free(f);
	f = font_new("there-is-no-such-file");
	assert_true(font_glyph(f, 0x2500, 1, rows));
	assert_false(font_glyph(f, 0x4e01, 2, rows));
	font_free(f);
}

/* ---- cells -------------------------------------------------------------------------------------
 */

static uint32_t pixel(const uint32_t *rgb, int x, int y)
{
	return rgb[y * W * FONT_W + x];
}

TEST(styles_are_drawn)
{
	struct font *f = font_new(NULL);
	struct surface s;
	uint32_t rgb[PIXELS];
	struct style st = {
		.fg = COLOR_RGB(1, 2, 3), .bg = COLOR_INDEX(1), .line = COLOR_RGB(9, 9, 9)};

	surface_init(&s, W, H);
	st.attr = STYLE_UNDERLINE;
	surface_put(&s, 0, 0, "|", 1, 1, &st);
	st.attr = STYLE_STRIKE | STYLE_REVERSE;
	surface_put(&s, 1, 0, " ", 1, 1, &st);
	st.attr = STYLE_BOLD;
	surface_put(&s, 2, 0, "|", 1, 1, &st);
	surface_put(&s, 6, 1, "\xe3\x81\x82", 3, 1, &st); /* too wide for the last column */
	s.cursor = (struct cursor){.visible = true, .x = 3, .y = 2, .shape = CURSOR_BAR};
	raster_cells(f, &s, (struct rect){0, 0, W, H}, rgb);
	assert_int_equal(pixel(rgb, 0, 14), 0x090909);
	assert_int_equal(pixel(rgb, 4, 8), 0x010203);
	assert_int_equal(pixel(rgb, 0, 0), 0xcd3131);
	assert_int_equal(pixel(rgb, 8, 0), 0x010203); /* reversed: the background */
	assert_int_equal(pixel(rgb, 8, 8), 0xcd3131);
	assert_int_equal(pixel(rgb, 20, 8), 0x010203);
	assert_int_equal(pixel(rgb, 21, 8), 0x010203); /* bold: twice as thick */
	assert_int_equal(pixel(rgb, 22, 8), 0xcd3131);
	assert_int_equal(pixel(rgb, 24, 2 * FONT_H), RASTER_TEXT); /* the cursor */
	assert_int_equal(pixel(rgb, 26, 2 * FONT_H), RASTER_GROUND);
	surface_done(&s);
	font_free(f);
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static void draw_anything(struct surface *s)
{
	static const char *const texts[] = {
		"a",	" ",   "\xe2\x94\x80", "\xe3\x81\x82", "e\xcc\x81", "\xf0\x9f\x8e\x89",
		"\xff", "\x1b"};

	for (int n = 0; n < 20; n++) {
		const char *t = texts[any(8)];
		struct style st = {.fg = any(2) ? COLOR_INDEX(any(256))
						: COLOR_RGB(any(256), any(256), 7),
				   .bg = any(2) ? 0 : COLOR_RGB(any(256), 5, any(256)),
				   .attr = any(2048)};

		surface_put(s, (int)any(W), (int)any(H), t, strlen(t), 1 + (int)any(2), &st);
	}
	s->cursor = (struct cursor){
		.visible = any(2), .x = (int)any(W), .y = (int)any(H), .shape = any(3)};
}

/* Draws image i over the earlier ones, as libgif finds them. */
static void lay(const GifFileType *g, int i, uint32_t *rgb)
{
	const SavedImage *img = &g->SavedImages[i];
	const ColorMapObject *map =
		img->ImageDesc.ColorMap ? img->ImageDesc.ColorMap : g->SColorMap;

	for (int y = 0; y < img->ImageDesc.Height; y++) {
		for (int x = 0; x < img->ImageDesc.Width; x++) {
			int index = img->RasterBits[y * img->ImageDesc.Width + x];
			GifColorType c = map->Colors[index];

			assert_true(index < map->ColorCount);
			rgb[(img->ImageDesc.Top + y) * g->SWidth + img->ImageDesc.Left + x] =
				(uint32_t)c.Red << 16 | (uint32_t)c.Green << 8 | c.Blue;
		}
	}
}

#define FRAMES 60

TEST(pictures_are_read_back_as_they_were_drawn)
{
	char name[] = "gif.XXXXXX";
	int fd = mkstemp(name), e = 0;
	struct gif *g = gif_new(fd, W * FONT_W, H * FONT_H);
	struct font *f = font_new(NULL);
	struct surface s;
	static uint32_t whole[FRAMES][PIXELS], part[PIXELS], found[PIXELS];
	GifFileType *in;

	surface_init(&s, W, H);
	for (int i = 0; i < FRAMES; i++) {
		struct rect all = {0, 0, W * FONT_W, H * FONT_H}, row = {0, 0, W, 1};

		if (i % 3 != 2) {
			draw_anything(&s);
			raster_cells(f, &s, (struct rect){0, 0, W, H}, whole[i]);
			assert_int_equal(gif_frame(g, i * 100000, all, whole[i]), 0);
			continue;
		}
		/* A row of one image, in a colour that no other image has. */
		row.y = (int)any(H);
		memcpy(whole[i], whole[i - 1], sizeof(whole[i]));
		for (size_t k = 0; k < (size_t)W * FONT_W * FONT_H; k++)
			whole[i][(size_t)row.y * W * FONT_W * FONT_H + k] = part[k] =
				0xff00u + (uint32_t)i;
		assert_int_equal(gif_frame(g, i * 100000,
					   (struct rect){0, row.y * FONT_H, W * FONT_W, FONT_H},
					   part),
				 0);
	}
	assert_int_equal(gif_end(g, FRAMES * 100000 + 700000000),
			 0); /* longer than the largest delay */
	close(fd);
	in = DGifOpenFileName(name, &e);
	unlink(name);
	assert_non_null(in);
	assert_int_equal(DGifSlurp(in), GIF_OK);
	assert_int_equal(in->ImageCount, FRAMES + 1);
	for (int i = 0; i < FRAMES; i++) {
		GraphicsControlBlock gcb;

		lay(in, i, found);
		assert_memory_equal(found, whole[i], sizeof(found));
		assert_int_equal(DGifSavedExtensionToGCB(in, i, &gcb), GIF_OK);
		assert_int_equal(gcb.DelayTime, i < FRAMES - 1 ? 10 : 65535);
	}
	lay(in, FRAMES, found);
	assert_memory_equal(found, whole[FRAMES - 1], sizeof(found));
	DGifCloseFile(in, &e);
	surface_done(&s);
	font_free(f);
}

TEST(an_error_stays)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct gif *g;
	static uint32_t rgb[64 * 64];

	if (fd < 0)
		skip();
	g = gif_new(fd, 64, 64);
	for (int i = 0; i < 200; i++) {
		for (size_t k = 0; k < 64 * 64; k++)
			rgb[k] = any(0x1000000);
		if (gif_frame(g, i * 100000, (struct rect){0, 0, 64, 64}, rgb) < 0)
			break;
	}
	assert_int_equal(gif_frame(g, 100000000, (struct rect){0, 0, 1, 1}, rgb), -ENOSPC);
	assert_int_equal(gif_end(g, 200000000), -ENOSPC);
	close(fd);
}

TESTS(NULL, NULL)
