#include <gmock/gmock.h>

#include <regex>

#include "plugins/storage/read_storage.sh.h"
#include "plugins/storage/volume.sh.h"
#include "reconciler/base/text.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::storage {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class StorageScripts : public reconciler::test::ScriptTree {
 protected:
  StorageScripts() {
    PutProgram("systemctl",
               "case $1 in is-enabled) echo enabled ;; *) echo inactive; exit 3 ;; esac\n");
    PutProgram("modprobe", "exit 1\n");
    PutProgram("nvme", "echo \"nvme $*\"\n");
  }
  CommandReply Volume(const std::string& verb) const {
    return Run({"sh", "-c", std::string(kVolumeSh), "sh", verb, "nqn.a:b", "192.0.2.1", "4420"},
               "RUNTIME_DIRECTORY='" + Place("/unit").string() + "'");
  }
  std::uintmax_t SizeOf(const std::string& path) const {
    return std::filesystem::file_size(Place(path));
  }
};

TEST_F(StorageScripts, WhatTheNodeHasIsShown) {
  Put("/sys/class/nvme-subsystem/nvme-subsys0/subsysnqn", "nqn.a:b\n");
  Put("/sys/class/nvme-subsystem/nvme-subsys0/nvme1/state", "live\n");
  Put("/proc/self/mounts",
      "/dev/nvme1n1 /mnt/a ext4 ro,noload 0 0\n/dev/nvme2n1 /mnt/a ext4 rw 0 0\n"
      "/dev/nvme3n1 /mnt/ab ext4 rw 0 0\n");
  const CommandReply reply = Run({"sh", "-c", std::string(kReadStorageSh), "sh", "-p", "/mnt/a",
                                  "-d", "/nowhere", "-u", "mnt-a.mount"});
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_THAT(
      SplitLines(reply.out),
      ElementsAre("nvme_cli yes", "module no", "subsystem live nqn.a:b",
                  "mount /mnt/a /dev/nvme2n1 ext4 rw", "unit enabled inactive mnt-a.mount"));
}

TEST_F(StorageScripts, WhereADeviceIsMountedForWritingIsShown) {
  Put("/dev/nvme1n1", "");
  PutLink("/dev/models", "/dev/nvme1n1");
  const std::string link = Place("/dev/models").string();
  const auto read = [&](const std::string& mounts) {
    Put("/proc/self/mounts", std::regex_replace(mounts, std::regex("DEV"), Place("/dev").string()));
    return SplitLines(Run({"sh", "-c", std::string(kReadStorageSh), "sh", "-d", link}).out);
  };
  const std::string device = "device /dev/models /dev/nvme1n1";
  EXPECT_THAT(read("DEV/nvme1n1 /mnt/a ext4 ro,noload 0 0\nDEV/nvme2n1 /mnt/b ext4 rw 0 0\n"
                   "DEV/nvme1n1 /mnt/c ext4 ro,errors=rw-not 0 0\n"),
              ElementsAre("nvme_cli yes", "module no", device));
  EXPECT_THAT(read("DEV/nvme1n1 /mnt/a ext4 ro 0 0\nDEV/nvme1n1 /mnt/b ext4 rw,noatime 0 0\n"
                   "DEV/nvme1n1 /mnt/c ext4 noatime,rw 0 0\n"),
              ElementsAre("nvme_cli yes", "module no", device, "writable /dev/models /mnt/b"));
}

// The mounts of LVM have a name that is a link, and the link by UUID leads past it.
TEST_F(StorageScripts, AMountByALinkToTheDeviceIsOneOfTheDevice) {
  Put("/dev/dm-0", "");
  PutLink("/dev/mapper/vg-lv", "/dev/dm-0");
  PutLink("/dev/models", "/dev/dm-0");
  const std::string dev = Place("/dev").string();
  Put("/proc/self/mounts", "tmpfs /run tmpfs rw,nosuid 0 0\n" + dev +
                               "/mapper/vg-lv /mnt/a ext4 rw,noatime 0 0\n" + dev +
                               "/mapper/gone /mnt/b ext4 rw 0 0\n");
  const std::string script =
      std::regex_replace(std::string(kReadStorageSh), std::regex(R"(/dev/\*\))"), dev + "/*)");
  const CommandReply reply = Run({"sh", "-c", script, "sh", "-p", "/mnt/a", "-d", dev + "/models",
                                  "-p", "/mnt/b", "-p", "/run"});
  EXPECT_THAT(
      SplitLines(reply.out),
      ElementsAre("nvme_cli yes", "module no", "mount /mnt/a /dev/dm-0 ext4 rw,noatime",
                  "device /dev/models /dev/dm-0", "writable /dev/models /mnt/a",
                  "mount /mnt/b /dev/mapper/gone ext4 rw", "mount /run tmpfs tmpfs rw,nosuid"));
}

TEST_F(StorageScripts, AModuleThatIsLoadedIsThere) {
  PutFolder("/sys/module/nvme_tcp");
  EXPECT_THAT(SplitLines(Run({"sh", "-c", std::string(kReadStorageSh), "sh"}).out),
              Contains("module yes"));
}

TEST_F(StorageScripts, AConnectionIsMade) {
  PutFolder("/unit");
  const CommandReply first = Volume("connect");
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.out, HasSubstr("nvme connect --transport=tcp --nqn=nqn.a:b --traddr=192.0.2.1 "
                                   "--trsvcid=4420 --ctrl-loss-tmo=-1\n"));
}

TEST_F(StorageScripts, AConnectionIsEndedWithoutNvmeAndNoOther) {
  PutFolder("/unit");
  Volume("connect");
  Put("/sys/class/nvme-subsystem/nvme-subsys0/subsysnqn", "nqn.a:b2\n");
  Put("/sys/class/nvme-subsystem/nvme-subsys0/nvme0/delete_controller", "");
  Put("/sys/class/nvme-subsystem/nvme-subsys1/subsysnqn", "nqn.a:b\n");
  Put("/sys/class/nvme-subsystem/nvme-subsys1/nvme1/delete_controller", "");
  PutFolder("/sys/class/nvme-subsystem/nvme-subsys1/nvme1n1");
  PutProgram("nvme", "exit 127\n");
  EXPECT_EQ(Volume("disconnect").exit_code, 0);
  EXPECT_EQ(SizeOf("/sys/class/nvme-subsystem/nvme-subsys0/nvme0/delete_controller"), 0);
  EXPECT_EQ(SizeOf("/sys/class/nvme-subsystem/nvme-subsys1/nvme1/delete_controller"), 2);
}

TEST_F(StorageScripts, AConnectionOfAnotherStays) {
  PutFolder("/unit");
  Put("/sys/class/nvme-subsystem/nvme-subsys0/subsysnqn", "nqn.a:b\n");
  Put("/sys/class/nvme-subsystem/nvme-subsys0/nvme0/delete_controller", "");
  EXPECT_EQ(Volume("connect").out, "");
  EXPECT_EQ(Volume("disconnect").exit_code, 0);
  EXPECT_EQ(SizeOf("/sys/class/nvme-subsystem/nvme-subsys0/nvme0/delete_controller"), 0);
}

TEST_F(StorageScripts, ATargetThatDoesNotAnswerIsAFailureThatTheUnitTriesAgain) {
  PutFolder("/unit");
  PutProgram("nvme", "exit 1\n");
  EXPECT_EQ(Volume("connect").exit_code, 1);
  EXPECT_EQ(Volume("disconnect").exit_code, 0);
}

}  // namespace
}  // namespace reconciler::plugins::storage
