/* elf_sections - finds sections and notes in a 64-bit little-endian ELF file in memory. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/elf_sections.h"

#include <elf.h>
#include <string.h>

static bool part(struct span file, uint64_t at, uint64_t len, struct span *ret)
{
	if (at > file.len || len > file.len - at)
		return false;
	*ret = (struct span){file.data + at, (size_t)len};
	return true;
}

static bool read_header(struct span file, Elf64_Ehdr *ret)
{
	if (file.len < sizeof(*ret))
		return false;
	memcpy(ret, file.data, sizeof(*ret));
	return memcmp(ret->e_ident, ELFMAG, SELFMAG) == 0 && ret->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ret->e_ident[EI_DATA] == ELFDATA2LSB;
}

static bool read_section(struct span file, const Elf64_Ehdr *head, size_t i, Elf64_Shdr *ret)
{
	struct span s;

	if (head->e_shentsize != sizeof(*ret) ||
	    !part(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*ret), &s) ||
	    i >= head->e_shnum)
		return false;
	memcpy(ret, s.data + i * sizeof(*ret), sizeof(*ret));
	return true;
}

bool elf_section(struct span file, const char *name, struct span *ret)
{
	Elf64_Ehdr head;
	Elf64_Shdr names, s;
	struct span text;

	if (!read_header(file, &head) || !read_section(file, &head, head.e_shstrndx, &names) ||
	    !part(file, names.sh_offset, names.sh_size, &text))
		return false;
	for (size_t i = 0; read_section(file, &head, i, &s); i++) {
		if (s.sh_name < text.len && text.len - s.sh_name > strlen(name) &&
		    strcmp(text.data + s.sh_name, name) == 0)
			return s.sh_type != SHT_NOBITS && part(file, s.sh_offset, s.sh_size, ret);
	}
	return false;
}

static bool notes_have(struct span notes, const char *owner, uint32_t type)
{
	Elf64_Nhdr note;

	while (notes.len >= sizeof(note)) {
		uint64_t name, whole;

		memcpy(&note, notes.data, sizeof(note));
		name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		whole = sizeof(note) + name + (((uint64_t)note.n_descsz + 3) & ~UINT64_C(3));
		if (whole > notes.len)
			return false;
		if (note.n_type == type && note.n_namesz == strlen(owner) + 1 &&
		    memcmp(notes.data + sizeof(note), owner, note.n_namesz) == 0)
			return true;
		notes.data += whole;
		notes.len -= (size_t)whole;
	}
	return false;
}

bool elf_has_note(struct span file, const char *owner, uint32_t type)
{
	Elf64_Ehdr head;
	struct span table, notes;

	if (!read_header(file, &head) || head.e_phentsize != sizeof(Elf64_Phdr) ||
	    !part(file, head.e_phoff, (uint64_t)head.e_phnum * sizeof(Elf64_Phdr), &table))
		return false;
	for (size_t i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr p;

		memcpy(&p, table.data + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_NOTE && part(file, p.p_offset, p.p_filesz, &notes) &&
		    notes_have(notes, owner, type))
			return true;
	}
	return false;
}
