; pip - Python. ~/.pypirc holds tokens: it stays hidden.
[profile]
	summary = Python with pip, uv, pipx, pyenv and conda
[rule "python"]
	allow = read,exec ~/.pyenv/**
	allow = read,exec ~/.local/lib/**
	allow = read,exec ~/.local/share/uv/**
	allow = read,exec ~/.local/share/pipx/**
	allow = read,exec ~/.local/pipx/**
	allow = read,exec ~/.virtualenvs/**
	allow = read,exec ~/miniconda3/**
	allow = read,exec ~/anaconda3/**
	allow = read,exec ~/miniforge3/**
	allow = read,exec ~/mambaforge/**
	allow = read,exec ~/micromamba/**
	allow = read ~/.config/pip/pip.conf
	match = read ~/.local/lib/python3.11/site-packages/x.py
	not-match = read ~/.pypirc
