#include <gmock/gmock.h>

#include <regex>

#include "reconciler/base/text.h"
#include "reconciler/verify/containers/image_facts.h"
#include "reconciler/verify/containers/run/inside.sh.h"
#include "tests/support/script_tree.h"

namespace reconciler {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kWheel =
    "/usr/local/lib/python3.12/dist-packages/nvidia/nccl/lib/libnccl.so.2";
constexpr const char* kInDist = "/usr/lib/aarch64-linux-gnu/libnccl.so.2";

class InsideScript : public test::ScriptTree {
 protected:
  InsideScript() { PutProgram("ldconfig", "exit 0\n"); }

  // As ParseImage reads it. `before` is shell that comes first.
  ImageFacts Look(const std::string& before = {}) const {
    // Not this machine's, where the first one finds nothing.
    const std::string script =
        std::regex_replace(std::string(kInsideSh), std::regex("/sbin/ldconfig"), "");
    const CommandReply reply = Run({"sh", "-c", script}, before);
    EXPECT_EQ(reply.exit_code, 0) << reply.out;
    EXPECT_THAT(SplitLines(reply.out), Contains("end"));
    return ParseImage("ran 0\n" + reply.out, "");
  }

  static std::string Binary(const std::string& version) {
    return std::string(
               "\x7f"
               "ELF\0\1",
               6) +
           "NCCL version " + version + " compiled with CUDA" + std::string("\0NCCL_IB_HCA\0\n", 14);
  }

  // What `ldconfig -p` finds.
  void PutLoaded(const std::string& path, const std::string& version) const {
    Put(path, Binary(version));
    PutProgram("ldconfig", "printf '1 libs found\\n\\tlibnccl.so.2 (libc6,AArch64) => %s\\n' '" +
                               Place(path).string() + "'\n");
  }
};

TEST_F(InsideScript, AnEmptyImageHasALimitOnly) {
  const ImageFacts facts = Look();
  EXPECT_EQ(facts.state, ImageState::kRead);
  EXPECT_NE(facts.memlock, std::nullopt);
  EXPECT_THAT(facts.devices, IsEmpty());
  EXPECT_THAT(facts.refused, IsEmpty());
  EXPECT_EQ(facts.library, "");
  EXPECT_EQ(facts.nccl.version, "");
}

TEST_F(InsideScript, TheLimitOfLockedMemoryIsTheShellsOwn) {
  EXPECT_EQ(Look("ulimit -S -l 64").memlock, (MemoryLimit{64 * 1024}));
}

TEST_F(InsideScript, ADeviceCountsWhereItCanBeOpened) {
  Put("/dev/infiniband/uverbs0", "");
  PutFolder("/dev/infiniband/uverbs1");  // which no one can open so
  Put("/dev/infiniband/rdma_cm", "");
  const ImageFacts facts = Look();
  EXPECT_THAT(facts.devices, ElementsAre("/dev/infiniband/uverbs0"));
  EXPECT_THAT(facts.refused, ElementsAre("/dev/infiniband/uverbs1"));
}

TEST_F(InsideScript, TheLibraryOfTheLoaderIsRead) {
  PutLoaded(kInDist, "2.27.7");
  const ImageFacts facts = Look();
  EXPECT_EQ(facts.library, kInDist);
  EXPECT_EQ(facts.nccl.version, "2.27.7");
  EXPECT_FALSE(facts.nccl.pairs_by_subnet);
}

TEST_F(InsideScript, ALibraryThatPairsBySubnetIsKnownByItsVariable) {
  Put(kWheel, Binary("2.30.7") + std::string("\0NCCL_IB_SUBNET_AWARE_ROUTING\0", 31));
  EXPECT_TRUE(Look().nccl.pairs_by_subnet);
}

TEST_F(InsideScript, WhatTheImageNamesComesBeforeAPythonPackageAndThatBeforeTheLoaders) {
  PutLoaded(kInDist, "2.27.7");
  Put("/opt/nccl/libnccl.so.2", Binary("2.29.2"));
  const std::string folder = "LD_LIBRARY_PATH=/nowhere:" + Place("/opt/nccl").string();
  EXPECT_EQ(Look(folder).nccl.version, "2.29.2");
  Put(kWheel, Binary("2.28.9"));
  EXPECT_EQ(Look(folder).library, kWheel);
  EXPECT_EQ(Look("VIRTUAL_ENV=/nowhere").library, kWheel);
  Put("/opt/env/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2", Binary("2.26.2"));
  EXPECT_EQ(Look("VIRTUAL_ENV=" + Place("/opt/env").string()).nccl.version, "2.26.2");
  Put("/opt/patched/libnccl.so.2.30.7", Binary("2.30.7"));
  EXPECT_EQ(
      Look("VLLM_NCCL_SO_PATH=" + Place("/opt/patched/libnccl.so.2.30.7").string()).nccl.version,
      "2.30.7");
}

TEST_F(InsideScript, WithoutALibraryTheHeaderSaysTheVersion) {
  Put("/usr/include/nccl.h",
      "#ifndef NCCL_H_\n#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n#define NCCL_PATCH 7\n"
      "#define NCCL_SUFFIX \"\"\n");
  const ImageFacts facts = Look();
  EXPECT_EQ(facts.library, "/usr/include/nccl.h");
  EXPECT_EQ(facts.nccl.version, "2.27.7");
}

}  // namespace
}  // namespace reconciler
