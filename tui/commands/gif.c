/* gif - writes an animated GIF, a picture at a time. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/gif.h"

#include <errno.h>
#include <gif_lib.h>
#include <string.h>

#include "core/base/io.h"
#include "tui/look/raster.h"
#include "tui/look/theme.h"

#define COLORS	   256
#define SLOTS	   1024	 /* slots of the hash table of colours */
#define DELAY_MAX  65535 /* hundredths of a second */
#define TICK_US	   10000
#define NO_COLOR   UINT32_MAX
#define WRITE_SIZE ((size_t)64 << 10)

/* Colours of one picture. */
struct palette {
	uint32_t rgb[COLORS];
	int n;
	uint32_t keys[SLOTS]; /* NO_COLOR: unused */
	uint8_t at[SLOTS];
};

struct gif {
	GifFileType *file;
	ColorMapObject *common;
	int fd, status;
	size_t bytes;
	struct buf out;
	/* The current picture, which is written when its duration is known. */
	struct rect r;
	uint8_t *pixels;
	ColorMapObject *map; /* NULL: the common one */
	int64_t from;	     /* hundredths of a second */
};

/* ---- colours ----------------------------------------------------------------------------------
 */

static size_t slot_of(const struct palette *p, uint32_t rgb)
{
	size_t i = rgb * 2654435761u >> 22;

	while (p->keys[i] != rgb && p->keys[i] != NO_COLOR)
		i = (i + 1) % SLOTS;
	return i;
}

/* Adds a colour. Returns false if there are 256 others. */
static bool add(struct palette *p, uint32_t rgb)
{
	size_t i = slot_of(p, rgb);

	if (p->keys[i] == rgb)
		return true;
	if (p->n == COLORS)
		return false;
	p->keys[i] = rgb;
	p->at[i] = (uint8_t)p->n;
	p->rgb[p->n++] = rgb;
	return true;
}

/* Adds the colours that every picture has: text, background and the sixteen. Returns their
 * number. */
static int add_common(struct palette *p)
{
	memset(p->keys, 0xff, sizeof(p->keys));
	p->n = 0;
	(void)add(p, RASTER_GROUND);
	(void)add(p, RASTER_TEXT);
	for (uint32_t i = 0; i < 16; i++)
		(void)add(p, color_rgb(COLOR_INDEX(i)));
	return p->n;
}

static ColorMapObject *map_of(const uint32_t *rgb, int n)
{
	int size = 2;
	ColorMapObject *map;

	while (size < n)
		size *= 2;
	map = GifMakeMapObject(size, NULL);
	for (int i = 0; map && i < n; i++)
		map->Colors[i] = (GifColorType){.Red = (GifByteType)(rgb[i] >> 16),
						.Green = (GifByteType)(rgb[i] >> 8),
						.Blue = (GifByteType)rgb[i]};
	return map;
}

/* Replaces more than 256 colours by the nearest ones of xterm's. */
static void reduce(const uint32_t *rgb, size_t n, uint8_t *ret, struct palette *p)
{
	uint32_t last = NO_COLOR;
	uint8_t index = 0;

	for (uint32_t i = 0; i < COLORS; i++)
		p->rgb[i] = color_rgb(COLOR_INDEX(i));
	p->n = COLORS;
	for (size_t i = 0; i < n; i++) {
		if (rgb[i] != last)
			index = (uint8_t)color_reduce(
				COLOR_RGB(rgb[i] >> 16, rgb[i] >> 8 & 0xff, rgb[i] & 0xff),
				DEPTH_256);
		last = rgb[i];
		ret[i] = index;
	}
}

/* Fills g->pixels and g->map. */
static void index_pixels(struct gif *g, const uint32_t *rgb, size_t n)
{
	struct palette p;
	uint32_t last = NO_COLOR;
	uint8_t index = 0;
	int common = add_common(&p);
	bool all = true;

	for (size_t i = 0; all && i < n; i++) {
		if (rgb[i] != last && (all = add(&p, rgb[i])))
			index = p.at[slot_of(&p, rgb[i])];
		last = rgb[i];
		g->pixels[i] = index;
	}
	if (!all)
		reduce(rgb, n, g->pixels, &p);
	g->map = p.n > common ? map_of(p.rgb, p.n) : NULL;
	if (p.n > common && !g->map)
		g->status = -ENOMEM;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static void flush(struct gif *g)
{
	int r = g->status == 0 ? io_write_all(g->fd, g->out.data, g->out.len) : 0;

	if (r < 0)
		g->status = r;
	buf_clear(&g->out);
}

static int take_bytes(GifFileType *file, const GifByteType *bytes, int len)
{
	struct gif *g = file->UserData;

	buf_add(&g->out, bytes, (size_t)len);
	g->bytes += (size_t)len;
	if (g->out.len >= WRITE_SIZE)
		flush(g);
	return g->status == 0 ? len : 0;
}

/* Returns an error. libgif reports only failure: without a write error it is want of memory. */
static int check(struct gif *g, int result)
{
	if (result == GIF_ERROR && g->status == 0)
		g->status = -ENOMEM;
	return g->status;
}

static int begin(struct gif *g, int w, int h)
{
	static const unsigned char forever[] = {1, 0, 0};
	struct palette p;
	int e = 0;

	g->common = map_of(p.rgb, add_common(&p));
	g->file = EGifOpen(g, take_bytes, &e);
	if (!g->common || !g->file)
		return g->status = -ENOMEM;
	EGifSetGifVersion(g->file, true);
	if (check(g, EGifPutScreenDesc(g->file, w, h, 8, 0, g->common)) < 0 ||
	    check(g, EGifPutExtensionLeader(g->file, APPLICATION_EXT_FUNC_CODE)) < 0 ||
	    check(g, EGifPutExtensionBlock(g->file, 11, "NETSCAPE2.0")) < 0 ||
	    check(g, EGifPutExtensionBlock(g->file, sizeof(forever), forever)) < 0)
		return g->status;
	return check(g, EGifPutExtensionTrailer(g->file));
}

struct gif *gif_new(int fd, int w, int h)
{
	struct gif *g = xcalloc(1, sizeof(*g));

	g->fd = fd;
	g->out = (struct buf)BUF_INIT;
	begin(g, w, h);
	return g;
}

static int put_image(struct gif *g, int delay)
{
	GraphicsControlBlock control = {.DisposalMode = DISPOSE_DO_NOT,
					.DelayTime = delay,
					.TransparentColor = NO_TRANSPARENT_COLOR};
	GifByteType bytes[4];

	EGifGCBToExtension(&control, bytes);
	/* libgif drops the previous picture's colours without freeing them. */
	GifFreeMapObject(g->file->Image.ColorMap);
	g->file->Image.ColorMap = NULL;
	if (check(g, EGifPutExtension(g->file, GRAPHICS_EXT_FUNC_CODE, sizeof(bytes), bytes)) < 0 ||
	    check(g, EGifPutImageDesc(g->file, g->r.x, g->r.y, g->r.w, g->r.h, false, g->map)) < 0)
		return g->status;
	for (int y = 0; g->status == 0 && y < g->r.h; y++)
		check(g, EGifPutLine(g->file, g->pixels + (size_t)y * (size_t)g->r.w, g->r.w));
	return g->status;
}

/* Writes the current picture, which ends at `to`. */
static int put_shown(struct gif *g, int64_t to)
{
	if (g->pixels)
		to = MAX(to, g->from + 1);
	while (g->pixels && g->status == 0 && to > g->from) {
		int delay = (int)MIN(to - g->from, (int64_t)DELAY_MAX);

		put_image(g, delay);
		g->from += delay;
	}
	free(g->pixels);
	g->pixels = NULL;
	GifFreeMapObject(g->map);
	g->map = NULL;
	g->from = to;
	return g->status;
}

int gif_frame(struct gif *g, int64_t t_us, struct rect r, const uint32_t *rgb)
{
	size_t n = (size_t)r.w * (size_t)r.h;

	if (g->status < 0 || put_shown(g, (t_us + TICK_US / 2) / TICK_US) < 0)
		return g->status;
	g->pixels = xcalloc(n, 1);
	g->r = r;
	index_pixels(g, rgb, n);
	return g->status;
}

size_t gif_bytes(const struct gif *g)
{
	return g->bytes;
}

int gif_end(struct gif *g, int64_t t_us)
{
	int r = g->status, e;

	if (r == 0)
		r = put_shown(g, (t_us + TICK_US / 2) / TICK_US);
	if (g->file && EGifCloseFile(g->file, &e) == GIF_ERROR)
		check(g, GIF_ERROR);
	flush(g);
	r = g->status;
	GifFreeMapObject(g->common);
	GifFreeMapObject(g->map);
	free(g->pixels);
	buf_done(&g->out);
	free(g);
	return r;
}
