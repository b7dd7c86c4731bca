; nvim - Neovim: what it notes down while it edits is one question; what it runs at its next start is not of it.
[profile]
	summary = Neovim
	command = nvim
	inherits = tools
[rule "nvim's own files"]
	; a bundle: swap and undo files, marks, logs
	allow = read ~/.local/state/nvim/**
	allow = read ~/.cache/nvim/**
	allow = read ~/.local/share/nvim/**
	ask = write ~/.local/state/nvim/**
	ask = write ~/.cache/nvim/**
	reason = nvim keeps swap files, undo files, marks and its log here
	not-match = write ~/.config/nvim/init.lua
