"""Debian 12's own kernel, 6.1, booted under qemu with the built programs inside: no PAGEMAP_SCAN, no asynchronous
write-protection, but soft-dirty bits. VMVIS_LONG=1 only."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from cases import program
from vmvis import BUILD, INSPECT, RECORD, Case, main, number, sample

PROGRAMS = [program("case_11_signals"), program("case_13_injection"), program("case_42_kernel_side"),
            str(sample("variable"))]
RUNS = ["case_11_signals", "case_13_injection 3", "case_42_kernel_side"]  # none about time: this machine is slow
MODES = ["auto", "uffd", "frames", "none"]
INIT = """#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
cd /tmp; export PATH=/bin
echo "@kernel $(uname -r)"
n=0
run() { # NAME OPTIONS -- COMMAND: alone and recorded
  name=$1; shift; options=; while [ "$1" != -- ]; do options="$options $1"; shift; done; shift
  timeout 120 "$@" > alone 2>&1; a=$?
  timeout 240 vmvis-record -q -o t.vmv -i 20 $options -- "$@" > recorded 2>&1; r=$?
  if cmp -s alone recorded && [ $a = $r ]; then same=same; else same=DIFFERS; fi
  echo "@run $name|$same|$a|$r|$(vmvis-inspect verify t.vmv --json)|$(vmvis-inspect info t.vmv --json | sed 's/"program.*"sources"/"sources"/')"
  [ $same = same ] || { echo "@alone"; head -c 1500 alone; echo "@recorded"; head -c 1500 recorded; }
}
RUNS_HERE
for mode in auto frames; do
  vmvis-record -q -o v.vmv -i 20 --faults $mode -- variable --changes 5 > truth 2>&1
  echo "@variable $mode|$?|$(head -1 truth | tr -d '\\n')|$(grep -c . truth)|$(vmvis-inspect read v.vmv --at end --json $(sed -n 's/.*"variable","addr":"\\(0x[0-9a-f]*\\)".*/\\1/p' truth | head -1),8)|$(grep '"store"' truth | tail -1)"
done
echo "@done"
poweroff -f
"""


def find_kernel(folder):
    """A 6.1 kernel of Debian: one that is here, else its package, unpacked into the folder."""
    here = sorted(Path("/boot").glob("vmlinuz-6.1*"))
    if here:
        return here[-1]
    depends = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True).stdout
    name = re.search(r"linux-image-6\.1\S+", depends)
    if not name or subprocess.run(["apt-get", "download", name[0]], cwd=folder, capture_output=True).returncode:
        return None
    package = next(Path(folder).glob("linux-image-6.1*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, Path(folder, "kernel")], check=True, capture_output=True)
    return next(Path(folder, "kernel", "boot").glob("vmlinuz-*"))


def libraries(path):
    text = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    return set(re.findall(r"(/\S+\.so\S*)", text))


def build_root(root):
    for name in ("bin", "proc", "sys", "dev", "tmp", "etc"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
    for name in subprocess.run([root / "bin" / "busybox", "--list"], capture_output=True, text=True).stdout.split():
        if not (root / "bin" / name).exists():
            (root / "bin" / name).symlink_to("busybox")
    needed = set()
    for path in [str(RECORD), str(INSPECT), *PROGRAMS]:
        (root / "bin" / Path(path).name).unlink(missing_ok=True)
        shutil.copy(path, root / "bin")
        needed |= libraries(path)
    for library in needed:
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    runs = "\n".join(f'run "{mode} {run}" --faults {mode} -- {run}' for run in RUNS for mode in MODES)
    (root / "init").write_text(INIT.replace("RUNS_HERE", runs))
    (root / "init").chmod(0o755)


@unittest.skipUnless(os.environ.get("VMVIS_LONG"), "VMVIS_LONG is not set")
class DebianKernel(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for tool in ("qemu-system-x86_64", "busybox", "cpio"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            kernel = find_kernel(folder)
            if not kernel:
                raise unittest.SkipTest("Debian's kernel 6.1 cannot be had here")
            root = Path(folder, "root")
            build_root(root)
            archive = Path(folder, "initrd")
            files = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
            with open(archive, "wb") as out:
                subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=files, stdout=out, check=True)
            cls.console = cls.boot(kernel, archive)

    @staticmethod
    def boot(kernel, archive):
        command = ["qemu-system-x86_64", "-cpu", "max", "-m", "2048", "-smp", "2", "-nographic", "-no-reboot", "-net", "none",
                   "-kernel", kernel, "-initrd", archive, "-append", "console=ttyS0 quiet panic=-1 rdinit=/init"]
        try:
            return subprocess.run(command, capture_output=True, timeout=2400, stdin=subprocess.DEVNULL).stdout.decode(
                errors="replace").replace("\r", "")
        except subprocess.TimeoutExpired as late:
            return (late.stdout or b"").decode(errors="replace")

    def test_it_booted(self):
        self.assertRegex(self.console, "@kernel 6\\.1\\.")
        self.assertIn("@done", self.console, self.console[-2000:])

    def test_programs_never_notice(self):
        found = re.findall(r"^@run (.*?)\|(\w+)\|(\d+)\|(\d+)\|(\{.*?\})\|(\{.*\})$", self.console, re.M)
        self.assertEqual(len(found), len(RUNS) * len(MODES), self.console[-3000:])
        for name, same, alone, recorded, verdict, info in found:
            with self.subTest(run=name):
                self.assertEqual((same, alone), ("same", recorded), self.console)
                self.assertTrue(json.loads(verdict)["ok"])
                sources = json.loads(info)["sources"]
                mode = name.split()[0]
                self.assertEqual(sources["faults"], "uffd" if mode == "auto" else mode, sources)
                if mode != "none":
                    self.assertIn("soft-dirty", sources["why"])

    def test_values(self):
        found = re.findall(r"^@variable (\w+)\|(\d+)\|.*?\|(\d+)\|(\{.*?\})\|(.*)$", self.console, re.M)
        self.assertEqual([line[0] for line in found], ["auto", "frames"], self.console[-3000:])
        for mode, status, lines, read, store in found:
            with self.subTest(mode=mode):
                self.assertEqual(status, "0")
                value = re.search(r'"value":"?(0x[0-9a-f]+|\d+)', store)
                if value:
                    told = number(value[1]).to_bytes(8, "little").hex()
                    self.assertEqual(json.loads(read)["hex"], told)


if __name__ == "__main__":
    main()
