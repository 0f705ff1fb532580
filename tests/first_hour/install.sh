# The commands of README's Install, in its order, in a system that has nothing.
cd /dueq
apt-get update >/dev/null
sed -n '/^## Install/,/^## /{/^```sh/,/^```$/{/^```/!p}}' README.md >/install.sh
grep -c '^apt install' /install.sh
bash -exo pipefail /install.sh >/install.log 2>&1 || { tail -40 /install.log && exit 1; }
for dueq in dueq venv/bin/dueq; do
    $dueq --version
done
. venv/bin/activate
dueq --help >/dev/null
